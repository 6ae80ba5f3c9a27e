//! What a command is given and what it is kept from.

use agena::sandbox::environment::is_allowed;
use agena::sandbox::landlock::support;
use serde_json::json;

use super::{Bed, shown};

async fn printed(bed: &Bed, command: &str) -> String {
    let outcome = bed.run("run_shell_command", json!({"command": command})).await.unwrap();
    shown(&outcome).trim_end().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_environment_holds_exactly_what_is_allowed() {
    let own = [
        ("PATH", "/usr/bin:/bin"),
        ("HOME", "/nonexistent"),
        ("LANG", "C.UTF-8"),
        ("LC_TIME", "C"),
        ("GEMINI_API_KEY", "key-1"),
        ("GOOGLE_API_KEY", "key-2"),
        ("AGENA_TOKEN", "key-3"),
        ("GOOGLE_APPLICATION_CREDENTIALS", "/key-4"),
        ("AWS_SECRET_ACCESS_KEY", "key-5"),
        ("SSH_AUTH_SOCK", "/key-6"),
        ("BASH_ENV", "/evil"),
        ("BASH_FUNC_ls%%", "() { echo evil; }"),
        ("LD_PRELOAD", "/evil.so"),
    ];
    let bed = Bed::with(|options| {
        options.environment = own.iter().map(|(name, value)| (name.into(), value.into())).collect();
    });
    // What the shell was given, before it adds variables of its own.
    let found = printed(&bed, "tr '\\0' '\\n' < /proc/$$/environ").await;
    let mut lines: Vec<&str> = found.lines().collect();
    lines.sort_unstable();
    let expected = [
        "AGENA=1",
        "GIT_PAGER=cat",
        "GIT_TERMINAL_PROMPT=0",
        "HOME=/nonexistent",
        "LANG=C.UTF-8",
        "LC_TIME=C",
        "PAGER=cat",
        "PATH=/usr/bin:/bin",
        "TERM=xterm-256color",
    ];
    assert_eq!(lines, expected);
    let real = printed(&Bed::new(), "tr '\\0' '\\n' < /proc/$$/environ").await;
    for name in real.lines().filter_map(|line| line.split_once('=').map(|(name, _)| name)) {
        assert!(is_allowed(name.as_ref()), "{name} reaches a command");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_has_limits_and_a_session_of_its_own() {
    let bed = Bed::new();
    assert_eq!(printed(&bed, "ulimit -Sc; ulimit -Hc").await, "0\n0");
    let files: u64 = printed(&bed, "ulimit -n").await.parse().unwrap();
    assert!(files <= 16 * 1024, "{files}");
    assert_eq!(printed(&bed, "test $(ps -o pgid= -p $$) = $$ && echo leads").await, "leads");
    let own = own_session();
    let session = printed(&bed, "cut -d' ' -f6 /proc/$$/stat").await;
    assert_ne!(session, own, "the command shares the session of the server");
    assert_eq!(printed(&bed, "readlink /proc/$$/fd/0").await, "/dev/null");
    assert_eq!(printed(&bed, "grep NoNewPrivs /proc/$$/status | tr -d '\\t'").await, "NoNewPrivs:1");
    let free = Bed::with(|options| options.sandbox = false);
    assert_eq!(printed(&free, "grep NoNewPrivs /proc/$$/status | tr -d '\\t'").await, "NoNewPrivs:0");
}

fn own_session() -> String {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    stat.rsplit_once(") ").unwrap().1.split(' ').nth(3).unwrap().to_owned()
}

/// Says so and gives up where the kernel cannot do it.
fn landlock() -> bool {
    let support = support();
    if !support.is_there() {
        println!("skipped: the sandbox is {support}");
    }
    support.is_there()
}

#[tokio::test(flavor = "multi_thread")]
async fn landlock_keeps_a_command_from_writing_outside() {
    if !landlock() {
        return;
    }
    let bed = Bed::away(|_| {});
    let outside = bed.outside();
    let outside = outside.to_str().unwrap();
    for command in [
        format!("echo x > {outside}/new"),
        format!("echo x >> {outside}/secret"),
        format!("rm {outside}/secret"),
        format!("mv {outside}/secret {outside}/other"),
        format!("mkdir {outside}/dir"),
        format!("ln -s {outside} out && echo x > out/new"),
        format!("setsid -w bash -c 'echo x > {outside}/new'"),
        format!("truncate -s 0 {outside}/secret"),
    ] {
        let outcome = bed.run("run_shell_command", json!({"command": command})).await.unwrap();
        assert!(outcome.told.contains("Permission denied"), "{command}: {}", outcome.told);
    }
    assert_eq!(std::fs::read_to_string(bed.outside().join("secret")).unwrap(), "the secret");
    assert_eq!(std::fs::read_dir(bed.outside()).unwrap().count(), 1);
    let allowed = "mkdir -p a/b && echo x > a/b/c && mv a/b/c d && cat d && t=$(mktemp) && echo y > $t && rm $t && \
                   echo z > /dev/null && echo done";
    assert_eq!(printed(&bed, allowed).await, "x\ndone");
    assert_eq!(
        printed(&bed, &format!("cat {outside}/secret; ls /usr > /dev/null && echo reads")).await,
        "the secretreads"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn landlock_keeps_a_command_from_what_is_hidden_and_from_the_server() {
    if !landlock() {
        return;
    }
    let mut hidden = None;
    let bed = Bed::away(|options| {
        let home = options.root.parent().unwrap().join("home");
        std::fs::create_dir_all(home.join(".ssh")).unwrap();
        std::fs::write(home.join(".ssh/id"), "key").unwrap();
        std::fs::write(home.join("notes"), "notes").unwrap();
        std::fs::write(home.join("token"), "token").unwrap();
        options.environment.retain(|(name, _)| name != "HOME");
        options.environment.push(("HOME".into(), home.clone().into()));
        options.hidden = vec![home.join("token")];
        hidden = Some(home);
    });
    let home = hidden.unwrap();
    assert_eq!(printed(&bed, "cat ~/notes").await, "notes");
    let server = std::process::id();
    for command in [
        "cat ~/.ssh/id".to_owned(),
        "cat ~/token".to_owned(),
        format!("cat {}/.ssh/id", home.display()),
        format!("cat /proc/{server}/environ | head -c 1"),
        "cat /proc/$PPID/environ | head -c 1".to_owned(),
        format!("kill -0 {server}"),
        "kill -9 $PPID".to_owned(),
    ] {
        let told = bed.told("run_shell_command", json!({"command": command})).await;
        let denied = ["Permission denied", "not permitted"].iter().any(|word| told.contains(word));
        assert!(denied, "{command}: {told}");
    }
}
