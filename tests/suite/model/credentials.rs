//! Tokens of Google accounts, from files and servers as they are: every source, what is asked of whom, and what is said
//! when there is nothing.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use agena::domain::model::{ModelCause, ModelError};
use agena::domain::secret::Secret;
use agena::model::google::credentials::{OauthClient, Options, Token, TokenSource, tokens};
use agena::model::http::{Deadlines, Http, Proxy};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ring::signature::{KeyPair as _, RSA_PKCS1_2048_8192_SHA256, RsaKeyPair, UnparsedPublicKey};
use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls::pki_types::pem::PemObject as _;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::kit::upstream::{Asked, Reply, Step, Upstream};
use crate::kit::{DEADLINE, soon};

const KEY: &str = include_str!("service_account.pem");
const FLAVOR: &str = "metadata-flavor: Google\r\n";

pub fn http() -> Http {
    waiting(DEADLINE)
}

fn waiting(patience: Duration) -> Http {
    let deadlines = Deadlines { connect: patience, first_byte: patience, idle: patience, total: patience };
    Http::new(deadlines, &Proxy::None).unwrap()
}

fn source(options: Options) -> Arc<dyn TokenSource> {
    tokens(http(), options).unwrap()
}

/// A directory with one file of credentials in it.
pub fn file(content: &Value) -> (TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("credentials.json");
    std::fs::write(&path, content.to_string()).unwrap();
    (directory, path)
}

pub fn granted(token: &str) -> Reply {
    Reply::json(200, &json!({"access_token": token, "expires_in": 3599, "token_type": "Bearer"}))
}

/// Waits to be let on.
pub fn held(reply: Reply) -> Reply {
    Reply([vec![Step::Hold], reply.0].concat())
}

fn user(uri: &str) -> Value {
    json!({
        "type": "authorized_user", "client_id": "an-id", "client_secret": "a secret&more", "refresh_token": "1//refresh",
        "token_uri": uri, "quota_project_id": "payer",
    })
}

async fn given(tokens: &Arc<dyn TokenSource>) -> Result<String, ModelError> {
    soon(tokens.token()).await.map(|token: Token| token.secret.expose().to_owned())
}

async fn refused(options: Options) -> ModelError {
    given(&source(options)).await.unwrap_err()
}

fn form(asked: &Asked) -> Vec<(String, String)> {
    assert_eq!(asked.header("content-type"), "application/x-www-form-urlencoded");
    form_urlencoded::parse(&asked.body).into_owned().collect()
}

fn field<'a>(form: &'a [(String, String)], name: &str) -> &'a str {
    form.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value)
}

/// Nothing of this may ever be told.
fn keeps_secrets(error: &ModelError) {
    for secret in ["a secret", "1//refresh", "ya29", "MII", "cli-secret"] {
        assert!(!error.message.contains(secret), "{error}");
    }
}

#[tokio::test]
async fn a_login_of_gcloud_is_renewed_with_its_own_client() {
    let server = Upstream::start([granted("ya29.a")]).await;
    let (_directory, path) = file(&user(&format!("{}/token", server.url())));
    let tokens = source(Options { gcloud: Some(path), ..Options::default() });
    let token = soon(tokens.token()).await.unwrap();
    assert_eq!((token.secret.expose(), token.quota_project.as_deref()), ("ya29.a", Some("payer")));
    let asked = server.asked();
    assert_eq!((asked.len(), asked[0].method.as_str(), asked[0].path.as_str()), (1, "POST", "/token"));
    let expected = [
        ("grant_type", "refresh_token"),
        ("client_id", "an-id"),
        ("client_secret", "a secret&more"),
        ("refresh_token", "1//refresh"),
    ];
    assert_eq!(form(&asked[0]), expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
}

#[tokio::test]
async fn a_hundred_callers_ask_the_token_server_once() {
    let server = Upstream::start([held(granted("ya29.a")), granted("ya29.b")]).await;
    let (_directory, path) = file(&user(&server.url()));
    let tokens = source(Options { file: Some(path), ..Options::default() });
    let callers = (0..100).map(|_| {
        let tokens = Arc::clone(&tokens);
        tokio::spawn(async move { given(&tokens).await.unwrap() })
    });
    let callers: Vec<_> = callers.collect();
    server.was_asked(1).await;
    server.release();
    for told in soon(futures::future::join_all(callers)).await {
        assert_eq!(told.unwrap(), "ya29.a");
    }
    assert_eq!(server.asked().len(), 1);
}

fn short(token: &str, seconds: u64) -> Reply {
    Reply::json(200, &json!({"access_token": token, "expires_in": seconds}))
}

#[tokio::test]
async fn a_token_is_renewed_when_its_end_is_near() {
    let server = Upstream::start([short("ya29.a", 5), short("ya29.b", 100), granted("ya29.c")]).await;
    let (_directory, path) = file(&user(&server.url()));
    let tokens = source(Options { file: Some(path), ..Options::default() });
    assert_eq!(given(&tokens).await.unwrap(), "ya29.a");
    // As good as gone: the next one is waited for.
    assert_eq!(given(&tokens).await.unwrap(), "ya29.b");
    server.was_asked(2).await;
    // Good for a while yet: nobody waits for the next one, which rests a little after the last.
    assert_eq!(given(&tokens).await.unwrap(), "ya29.b");
    assert_eq!(server.asked().len(), 2);
}

#[tokio::test]
async fn a_service_account_signs_for_itself() {
    let server = Upstream::start([granted("ya29.s")]).await;
    let uri = format!("{}/token", server.url());
    let (_directory, path) = file(&json!({
        "type": "service_account", "client_email": "robot@example.com", "private_key": KEY, "private_key_id": "k1",
        "token_uri": uri, "project_id": "p",
    }));
    let tokens = source(Options { environment_file: Some(path), ..Options::default() });
    assert_eq!(given(&tokens).await.unwrap(), "ya29.s");
    let form = form(&server.asked()[0]);
    assert_eq!(field(&form, "grant_type"), "urn:ietf:params:oauth:grant-type:jwt-bearer");
    let (text, signature) = field(&form, "assertion").rsplit_once('.').unwrap();
    let der = PrivatePkcs8KeyDer::from_pem_slice(KEY.as_bytes()).unwrap();
    let pair = RsaKeyPair::from_pkcs8(der.secret_pkcs8_der()).unwrap();
    let public = UnparsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, pair.public_key());
    public.verify(text.as_bytes(), &URL_SAFE_NO_PAD.decode(signature).unwrap()).unwrap();
    let claims = URL_SAFE_NO_PAD.decode(text.split_once('.').unwrap().1).unwrap();
    let claims: Value = serde_json::from_slice(&claims).unwrap();
    assert_eq!(
        (claims["iss"].as_str(), claims["aud"].as_str()),
        (Some("robot@example.com"), Some(uri.as_str()))
    );
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs();
    let (issued, expires) = (claims["iat"].as_u64().unwrap(), claims["exp"].as_u64().unwrap());
    assert!(now.abs_diff(issued) < 60 && expires - issued == 3600, "{claims}");
}

#[tokio::test]
async fn the_metadata_server_is_asked_when_there_is_no_file() {
    let body = r#"{"access_token":"ya29.m","expires_in":300,"token_type":"Bearer"}"#;
    let server = Upstream::start([Reply::text(200, "application/json", body, FLAVOR)]).await;
    let metadata_host = Some(server.address.to_string());
    let missing = Some(PathBuf::from("/nowhere/application_default_credentials.json"));
    let tokens = source(Options { gcloud: missing, metadata_host, ..Options::default() });
    assert_eq!(given(&tokens).await.unwrap(), "ya29.m");
    let asked = server.asked();
    assert_eq!(
        (asked[0].method.as_str(), asked[0].path.as_str(), asked[0].header("metadata-flavor")),
        ("GET", "/computeMetadata/v1/instance/service-accounts/default/token", "Google")
    );
}

#[tokio::test]
async fn what_the_metadata_server_cannot_do_is_told() {
    for (reply, cause, said) in [
        (
            Reply::text(404, "text/html", "", FLAVOR),
            ModelCause::Denied,
            "this machine has no service account",
        ),
        (
            Reply::text(503, "text/html", "", FLAVOR),
            ModelCause::Unavailable,
            "gives no token now: status 503",
        ),
        (
            Reply::text(200, "application/json", "{}", FLAVOR),
            ModelCause::Broken,
            "answered without an access_token",
        ),
        // Something else that answers there, such as a portal of a hotel.
        (Reply::text(200, "text/html", "<html>", ""), ModelCause::Denied, "there are no Google credentials"),
    ] {
        let server = Upstream::start([reply]).await;
        let error =
            refused(Options { metadata_host: Some(server.address.to_string()), ..Options::default() }).await;
        assert_eq!(error.cause, cause, "{error}");
        assert!(error.message.contains(said), "{error}");
    }
}

/// In milliseconds, as Gemini CLI writes it.
fn expiry(seconds: i64) -> i64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs();
    (i64::try_from(now).unwrap() + seconds) * 1000
}

fn login(seconds: i64) -> Value {
    json!({
        "access_token": "ya29.cli", "refresh_token": "1//refresh", "scope": "x", "token_type": "Bearer",
        "expiry_date": expiry(seconds),
    })
}

fn cli(path: &Path, server: &Upstream, with_client: bool) -> Options {
    let client = || OauthClient { id: "cli-id".to_owned(), secret: Secret::new("cli-secret") };
    Options {
        gemini_cli: Some(path.to_owned()),
        gemini_cli_client: with_client.then(client),
        token_uri: Some(server.url()),
        ..Options::default()
    }
}

#[tokio::test]
async fn a_login_of_gemini_cli_is_used_while_it_is_valid() {
    let server = Upstream::start([granted("ya29.new")]).await;
    let (_directory, path) = file(&login(3000));
    for with_client in [false, true] {
        assert_eq!(given(&source(cli(&path, &server, with_client))).await.unwrap(), "ya29.cli");
    }
    assert!(server.asked().is_empty());
}

#[tokio::test]
async fn an_expired_login_of_gemini_cli_is_renewed_only_with_its_client() {
    let server = Upstream::start([granted("ya29.new")]).await;
    let (_directory, path) = file(&login(-5));
    let error = refused(cli(&path, &server, false)).await;
    assert_eq!(error.cause, ModelCause::Denied);
    for said in ["Log in again with Gemini CLI", "client id and client secret", path.to_str().unwrap()] {
        assert!(error.message.contains(said), "{error}");
    }
    keeps_secrets(&error);
    assert!(server.asked().is_empty());

    let before = std::fs::read(&path).unwrap();
    let tokens = source(cli(&path, &server, true));
    assert_eq!(given(&tokens).await.unwrap(), "ya29.new");
    assert_eq!(given(&tokens).await.unwrap(), "ya29.new");
    let form = form(&server.asked()[0]);
    assert_eq!((field(&form, "client_id"), field(&form, "client_secret")), ("cli-id", "cli-secret"));
    assert_eq!((server.asked().len(), std::fs::read(&path).unwrap()), (1, before));
}

#[tokio::test]
async fn a_new_login_counts_without_a_restart() {
    let server = Upstream::start([granted("unused")]).await;
    let (_directory, path) = file(&login(-5));
    let tokens = source(cli(&path, &server, false));
    assert!(given(&tokens).await.is_err());
    std::fs::write(&path, login(3000).to_string()).unwrap();
    assert_eq!(given(&tokens).await.unwrap(), "ya29.cli");
    let named = source(Options { gemini_cli: None, file: Some(path.clone()), ..cli(&path, &server, false) });
    assert_eq!(given(&named).await.unwrap(), "ya29.cli");
    // Refused however valid it looks, until there is another one.
    tokens.forget(&Secret::new("ya29.cli"));
    assert!(given(&tokens).await.unwrap_err().message.contains("Log in again"));
    std::fs::write(&path, login(3000).to_string().replace("ya29.cli", "ya29.next")).unwrap();
    assert_eq!(given(&tokens).await.unwrap(), "ya29.next");
}

#[tokio::test]
async fn a_plain_token_is_given_until_it_is_refused() {
    let tokens = source(Options { token: Some(Secret::new("ya29.plain")), ..Options::default() });
    assert_eq!(given(&tokens).await.unwrap(), "ya29.plain");
    tokens.forget(&Secret::new("ya29.plain"));
    let error = given(&tokens).await.unwrap_err();
    assert_eq!(error.cause, ModelCause::Denied);
    keeps_secrets(&error);
}

#[tokio::test]
async fn the_first_place_that_has_credentials_counts() {
    let server = Upstream::start([granted("ya29.a")]).await;
    let (_one, login_path) = file(&login(3000));
    let named = |name: &str| {
        let (directory, path) = file(&user(&format!("{}/{name}", server.url())));
        (directory, Some(path))
    };
    let ((_two, explicit), (_three, environment), (_four, gcloud)) =
        (named("explicit"), named("environment"), named("gcloud"));
    let mut options = Options {
        token: Some(Secret::new("plain")),
        file: explicit,
        environment_file: environment,
        gemini_cli: Some(login_path),
        gcloud,
        ..Options::default()
    };
    assert_eq!(given(&source(options.clone())).await.unwrap(), "plain");
    options.token = None;
    given(&source(options.clone())).await.unwrap();
    options.file = None;
    given(&source(options.clone())).await.unwrap();
    options.environment_file = None;
    assert_eq!(given(&source(options.clone())).await.unwrap(), "ya29.cli");
    options.gemini_cli = None;
    given(&source(options)).await.unwrap();
    let paths: Vec<String> = server.asked().into_iter().map(|asked| asked.path).collect();
    assert_eq!(paths, ["/explicit", "/environment", "/gcloud"]);
}

#[tokio::test]
async fn what_is_wrong_with_a_file_is_told_by_its_name() {
    let (_directory, path) = file(&json!({"type": "external_account", "audience": "x"}));
    let error = refused(Options { file: Some(path.clone()), ..Options::default() }).await;
    assert!(
        error.message.contains(path.to_str().unwrap()) && error.message.contains("\"external_account\""),
        "{error}"
    );
    std::fs::write(&path, r#"{"type":"authorized_user","client_id":"i","client_secret":"a secret"}"#)
        .unwrap();
    let error = refused(Options { file: Some(path.clone()), ..Options::default() }).await;
    assert!(error.message.ends_with("cannot be used: refresh_token is missing"), "{error}");
    keeps_secrets(&error);
    let error = refused(Options { file: Some("/nowhere/x.json".into()), ..Options::default() }).await;
    assert_eq!(error.message, "there is no file of credentials at /nowhere/x.json");
    let bad_key = json!({"type": "service_account", "client_email": "a@b", "private_key": &KEY[..200]});
    std::fs::write(&path, bad_key.to_string()).unwrap();
    let error = refused(Options { file: Some(path), ..Options::default() }).await;
    assert!(error.message.ends_with("private_key is not an RSA key in PEM"), "{error}");
    keeps_secrets(&error);
}

#[tokio::test]
async fn what_the_token_server_says_is_told_with_what_to_do() {
    let gone = json!({"error": "invalid_grant", "error_description": "Token has been expired or revoked."});
    for (reply, cause, said) in [
        (
            Reply::json(400, &gone),
            ModelCause::Denied,
            "invalid_grant (Token has been expired or revoked.). Log in again with `gcloud auth",
        ),
        (Reply::json(503, &json!({})), ModelCause::Unavailable, "gives no token now: status 503"),
        (Reply::json(429, &json!({})), ModelCause::Limited, "gives no token now: status 429"),
        (Reply::json(200, &json!({"id_token": "x"})), ModelCause::Broken, "answered without an access_token"),
        (Reply::reset(), ModelCause::Unavailable, "127.0.0.1"),
    ] {
        let server = Upstream::start([reply]).await;
        let (_directory, path) = file(&user(&server.url()));
        let error = refused(Options { file: Some(path), ..Options::default() }).await;
        assert_eq!(error.cause, cause, "{error}");
        assert!(error.message.contains(said), "{error}");
        keeps_secrets(&error);
    }
}

#[tokio::test]
async fn a_token_server_that_says_nothing_is_not_waited_for() {
    let server = Upstream::start([Reply::silence()]).await;
    let (_directory, path) = file(&user(&server.url()));
    let options = Options { file: Some(path), ..Options::default() };
    let error = given(&tokens(waiting(Duration::from_millis(100)), options).unwrap()).await.unwrap_err();
    assert_eq!(error.cause, ModelCause::Unavailable);
    assert!(error.message.contains("said nothing"), "{error}");
}
