//! Runs a client: PROGRAM DOCUMENT CASES BASE_URL CONTROL_URL. `calls.rs` has a function that sends a case and returns
//! the members of its line, or None if the client lacks the operation, or a message if it sent nothing.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

pub type Line = Map<String, Value>;

pub struct Case {
    pub operation: String,
    pub name: String,
    pub arguments: Map<String, Value>,
    pub body: Option<Value>,
    pub media_type: Option<String>,
    pub credentials: Map<String, Value>,
}

impl Case {
    fn from(value: &Value) -> Case {
        let text = |name: &str| value[name].as_str().map(str::to_string);
        let members = |name: &str| value[name].as_object().cloned().unwrap_or_default();
        Case {
            operation: text("operation").unwrap_or_default(),
            name: text("case").unwrap_or_default(),
            arguments: members("arguments"),
            body: value.get("body").cloned(),
            media_type: text("mediaType"),
            credentials: members("credentials"),
        }
    }

    /// Returns a token or a key.
    pub fn credential(&self, scheme: &str) -> Option<String> {
        self.credentials.get(scheme)?.as_str().map(str::to_string)
    }

    /// Returns the user name and the password.
    pub fn basic(&self) -> Option<(String, Option<String>)> {
        let basic = self.credentials.get("basic")?;
        let text = |name: &str| basic[name].as_str().map(str::to_string);
        Some((text("username")?, text("password")))
    }

    /// Returns a parameter, or a property of a form, in the type that the client takes.
    #[allow(dead_code)]
    pub fn argument<T: DeserializeOwned>(&self, name: &str) -> Result<T, String> {
        let property = self.body.as_ref().and_then(|body| body.get(name));
        let value = self.arguments.get(name).or(property).unwrap_or(&Value::Null);
        typed(value)
    }

    /// Returns the body in the type that the client takes.
    #[allow(dead_code)]
    pub fn body<T: DeserializeOwned>(&self) -> Result<T, String> {
        typed(self.body.as_ref().unwrap_or(&Value::Null))
    }
}

fn typed<T: DeserializeOwned>(value: &Value) -> Result<T, String> {
    serde_json::from_value(plain(value)).map_err(|error| error.to_string())
}

/// Returns a value of cases.json as JSON has it, without tags except those of files.
pub fn plain(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(plain).collect(),
        Value::Object(members) => match members.iter().next() {
            Some((tag, Value::String(text))) if tag == "$int64" => json!(text.parse::<i64>().unwrap_or_default()),
            Some((tag, text)) if matches!(tag.as_str(), "$date" | "$dateTime" | "$bytes") => text.clone(),
            _ => members.iter().map(|(name, member)| (name.clone(), plain(member))).collect::<Map<_, _>>().into(),
        },
        _ => value.clone(),
    }
}

/// Returns the bytes of a value with the tag of bytes.
#[allow(dead_code)]
pub fn bytes_of(value: &Value) -> Option<Vec<u8>> {
    use base64::{Engine, prelude::BASE64_STANDARD};
    BASE64_STANDARD.decode(value.get("$bytes")?.as_str()?).ok()
}

/// Returns bytes with their tag.
#[allow(dead_code)]
pub fn tagged(bytes: &[u8]) -> Value {
    use base64::{Engine, prelude::BASE64_STANDARD};
    json!({ "$bytes": BASE64_STANDARD.encode(bytes) })
}

/// Returns the body of a response by its media type.
#[allow(dead_code)]
pub fn decoded(content_type: &str, bytes: &[u8]) -> Result<Option<Value>, String> {
    let read = |text: &str| serde_json::from_str::<Value>(text).map_err(|error| error.to_string());
    let text = String::from_utf8_lossy(bytes);
    match content_type.split(';').next().unwrap_or_default() {
        _ if bytes.is_empty() => Ok(None),
        "application/jsonl" => text.lines().map(read).collect::<Result<_, _>>().map(Some),
        "text/event-stream" => {
            text.lines().filter_map(|line| line.strip_prefix("data:")).map(read).collect::<Result<_, _>>().map(Some)
        }
        media_type if media_type.ends_with("json") => read(&text).map(Some),
        media_type if media_type.starts_with("text/") => Ok(Some(json!(text))),
        _ => Ok(Some(tagged(bytes))),
    }
}

pub async fn run<F, S>(send: S) -> Result<(), Box<dyn std::error::Error>>
where
    F: Future<Output = Result<Option<Line>, String>>,
    S: Fn(Case, String, Value) -> F,
{
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [document_file, cases_file, base_url, control_url] = arguments.as_slice() else {
        return Err("expected DOCUMENT CASES BASE_URL CONTROL_URL".into());
    };
    let document: Value = serde_json::from_str(&std::fs::read_to_string(document_file)?)?;
    let cases: Vec<Value> = serde_json::from_str(&std::fs::read_to_string(cases_file)?)?;
    for case in cases.iter().map(Case::from) {
        let named = json!({ "operation": case.operation, "case": case.name });
        let name = urlencoding::encode(&case.name).into_owned();
        reqwest::get(format!("{control_url}/{}/{name}", case.operation)).await?;
        let mut line = match send(case, base_url.clone(), document.clone()).await {
            Ok(None) => continue,
            Ok(Some(line)) => line,
            Err(message) => Map::from_iter([("sent".to_string(), json!(false)), ("error".to_string(), json!(message))]),
        };
        line.extend(named.as_object().cloned().unwrap_or_default());
        println!("{}", Value::Object(line));
    }
    Ok(())
}
