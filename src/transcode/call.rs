//! One HTTP request on its way to an RPC: the message out of body, path and query, and the metadata around it.
//! Generated routes call it. It has the whole body already; reading it was the transport's work.

use std::borrow::Cow;
use std::str::Utf8Error;

use bytes::Bytes;
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Uri};
use percent_encoding::percent_decode_str;
use serde_json::{Map, Value};
use tonic::Status;
use tonic::metadata::MetadataMap;

use super::answer::Media;
use super::query;
use super::route::{Body, Rule};
use super::router::Mount;
use super::template::Variable;
use super::vendor::Dialect;
use crate::domain::error::Error;
use crate::domain::request_id::RequestId;
use crate::proto::json::{self, BadJson};
use crate::proto::schema::{Field, Schema};
use crate::proto::vendor;

/// What to do with a query parameter that the request message does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unknown {
    Ignore,
    Refuse,
}

const VERSION: HeaderName = HeaderName::from_static("a2a-version");
const NOT_UTF8: &str = "is not UTF-8 after percent-decoding";

/// A request that found its route.
#[derive(Debug)]
pub struct Call {
    rule: &'static Rule,
    variables: Vec<(Variable, String)>,
    mount: Mount,
    pub parts: Parts,
    pub body: Bytes,
    pub media: Media,
}

impl Call {
    pub fn new(
        rule: &'static Rule,
        variables: Vec<(Variable, String)>,
        mount: Mount,
        parts: Parts,
        body: Bytes,
    ) -> Self {
        let media = Media::of(&parts.headers);
        Self { rule, variables, mount, parts, body, media }
    }

    /// The message, when the body is all of it.
    pub fn body<T: Schema>(&self) -> Result<T, Status> {
        self.no_query()?;
        if self.has_no_body() { Ok(T::default()) } else { json::decode(&self.spelled()?).map_err(refuse) }
    }

    /// The value of a path variable, decoded.
    pub fn variable(&self, index: usize) -> Result<String, Status> {
        let (variable, raw) =
            self.variables.get(index).ok_or_else(|| Status::internal("no such path variable"))?;
        let bad = |_: Utf8Error| Error::field(variable.field.join("."), NOT_UTF8);
        Ok(decode(raw, variable.multi).map_err(bad)?)
    }

    /// The message, put together from body, query and path. What the path says stands above the rest.
    pub fn assemble<T: Schema>(&self) -> Result<T, Status> {
        let mut tree = Map::new();
        let fields = T::fields();
        match self.rule.body {
            Body::None => self.read_query(&mut tree, fields, None)?,
            Body::All => {
                self.no_query()?;
                tree = self.object()?;
            }
            Body::Field(name) => {
                self.read_query(&mut tree, fields, Some(name))?;
                if !self.has_no_body() {
                    let field =
                        query::find(fields, name).ok_or_else(|| Status::internal("no such body field"))?;
                    let value = json::parse(&self.spelled()?).map_err(|e| refuse(e.below(field.printed)))?;
                    query::put(&mut tree, field, value);
                }
            }
        }
        for (index, (variable, _)) in self.variables.iter().enumerate() {
            query::set(&mut tree, fields, &variable.field, &self.variable(index)?, query::From::Path)?;
        }
        json::decode_tree(Value::Object(tree)).map_err(refuse)
    }

    /// The message as its vendor writes it: out of the body, or out of query and path. Unknown parameters are let pass.
    pub fn vendor<T: Schema>(&self) -> Result<T, Status> {
        if self.rule.body == Body::All {
            return match self.has_no_body() {
                true => Ok(T::default()),
                false => vendor::decode(&self.body).map_err(refuse),
            };
        }
        let (mut tree, fields) = (Map::new(), T::fields());
        self.read_query(&mut tree, fields, None)?;
        for (index, (variable, _)) in self.variables.iter().enumerate() {
            query::set(&mut tree, fields, &variable.field, &self.variable(index)?, query::From::Path)?;
        }
        vendor::decode(Value::Object(tree).to_string().as_bytes()).map_err(refuse)
    }

    pub fn mount(&self) -> &Mount {
        &self.mount
    }

    /// Where several vendors share a path: from here on it is answered in this one's words.
    #[must_use]
    pub fn answered_in(mut self, dialect: &'static dyn Dialect) -> Self {
        self.mount.dialect = Some(dialect);
        self
    }

    /// The name of the request, or nothing.
    pub fn id(&self) -> &str {
        self.parts.extensions.get::<RequestId>().map_or("", RequestId::as_str)
    }

    /// The gRPC request: headers are metadata, and what the rim found out rides along.
    pub fn into_request<T>(self, message: T) -> tonic::Request<T> {
        let Parts { headers, extensions, uri, .. } = self.parts;
        tonic::Request::from_parts(metadata(headers, &uri), extensions, message)
    }

    /// The same, for fronts that need the call afterwards.
    pub fn request<T>(&self, message: T) -> tonic::Request<T> {
        let Parts { headers, extensions, uri, .. } = &self.parts;
        tonic::Request::from_parts(metadata(headers.clone(), uri), extensions.clone(), message)
    }

    /// `A2A-Version`, from its header or from the query.
    pub fn version(&self) -> Option<HeaderValue> {
        let asked = || query::version(self.parts.uri.query().unwrap_or_default());
        self.parts.headers.get(VERSION).cloned().or_else(asked)
    }

    fn object(&self) -> Result<Map<String, Value>, Status> {
        if self.has_no_body() {
            return Ok(Map::new());
        }
        match json::parse(&self.spelled()?).map_err(refuse)? {
            Value::Object(members) => Ok(members),
            _ => Err(Error::malformed("", "the body must be a JSON object").into()),
        }
    }

    /// The body as the routes read it.
    fn spelled(&self) -> Result<Cow<'_, [u8]>, Status> {
        match self.mount.spelling {
            Some(spelling) => spelling(&self.body).map_err(refuse),
            None => Ok(Cow::Borrowed(&self.body)),
        }
    }

    /// Some clients send `null` for "nothing".
    fn has_no_body(&self) -> bool {
        let text = self.body.trim_ascii();
        text.is_empty() || text == b"null"
    }

    fn read_query(
        &self,
        tree: &mut Map<String, Value>,
        fields: &'static [Field],
        taken: Option<&str>,
    ) -> Result<(), Status> {
        for (key, value) in self.parameters() {
            if self.is_parameter(&key, fields, taken)? {
                let value = value.ok_or_else(|| Error::field(&key, NOT_UTF8))?;
                let path: Vec<String> = key.split('.').map(str::to_owned).collect();
                query::set(tree, fields, &path, &value, query::From::Query)?;
            }
        }
        Ok(())
    }

    /// Where the body is everything, a parameter has no place to go.
    fn no_query(&self) -> Result<(), Status> {
        match (self.mount.unknown, self.parameters().next()) {
            (Unknown::Refuse, Some((key, _))) => Err(not_a_parameter(&key)),
            _ => Ok(()),
        }
    }

    fn parameters(&self) -> impl Iterator<Item = (String, Option<String>)> {
        query::parameters(self.parts.uri.query().unwrap_or_default())
    }

    /// `taken` is what the body says already.
    fn is_parameter(&self, key: &str, fields: &'static [Field], taken: Option<&str>) -> Result<bool, Status> {
        let top = key.split('.').next().unwrap_or_default();
        let known = query::find(fields, top).is_some_and(|field| taken != Some(field.name));
        match (known, self.mount.unknown) {
            (true, _) => Ok(true),
            (false, Unknown::Ignore) => Ok(false),
            (false, Unknown::Refuse) => Err(not_a_parameter(key)),
        }
    }
}

fn metadata(mut headers: HeaderMap, uri: &Uri) -> MetadataMap {
    // For clients that cannot set headers, such as a browser's EventSource.
    if !headers.contains_key(VERSION)
        && let Some(version) = query::version(uri.query().unwrap_or_default())
    {
        headers.insert(VERSION, version);
    }
    MetadataMap::from_headers(headers)
}

fn not_a_parameter(key: &str) -> Status {
    Error::field(key, "is not a query parameter of this method").into()
}

fn refuse(error: BadJson) -> Status {
    Error::malformed(&error.field, &error.problem).into()
}

/// A variable of several segments keeps an encoded slash as it is, or it could not be told from a separator.
fn decode(raw: &str, multi: bool) -> Result<String, Utf8Error> {
    if !multi {
        return percent_decode_str(raw).decode_utf8().map(Into::into);
    }
    let mut out = String::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(at) = slash(rest) {
        out += &percent_decode_str(&rest[..at]).decode_utf8()?;
        out += &rest[at..at + SLASH];
        rest = &rest[at + SLASH..];
    }
    Ok(out + &percent_decode_str(rest).decode_utf8()?)
}

/// How long an encoded slash is.
const SLASH: usize = 3;

fn slash(text: &str) -> Option<usize> {
    text.as_bytes().windows(SLASH).position(|three| three.eq_ignore_ascii_case(b"%2f"))
}
