//! Calls by hand with reqwest, from the document and a case. A value is written as its style asks for, and its
//! delimiters are not encoded.

use crate::run_cases::{Case, Line, bytes_of, decoded, plain};
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, COOKIE};
use reqwest::multipart::{Form, Part};
use reqwest::{Method, RequestBuilder, Response};
use serde_json::{Value, json};
use std::time::Duration;

pub async fn send(case: Case, base_url: String, document: Value) -> Result<Option<Line>, String> {
    let client =
        reqwest::Client::builder().timeout(Duration::from_secs(20)).build().map_err(|error| error.to_string())?;
    let response =
        request_of(&client, &case, &base_url, &document)?.send().await.map_err(|error| format!("{error:?}"))?;
    line_of(response).await.map(Some)
}

fn find<'a>(document: &'a Value, id: &str) -> Option<(&'a str, &'a str, &'a Value)> {
    let paths = document["paths"].as_object()?;
    paths.iter().find_map(|(path, methods)| {
        let (method, operation) = methods.as_object()?.iter().find(|(_, operation)| operation["operationId"] == id)?;
        Some((path.as_str(), method.as_str(), operation))
    })
}

fn request_of(
    client: &reqwest::Client,
    case: &Case,
    base_url: &str,
    document: &Value,
) -> Result<RequestBuilder, String> {
    let (template, method, operation) = find(document, &case.operation).ok_or("the document has no such operation")?;
    let mut path = template.to_string();
    let (mut query, mut headers, mut cookies) = (Vec::new(), Vec::new(), Vec::new());
    for parameter in operation["parameters"].as_array().unwrap_or(&Vec::new()) {
        let name = parameter["name"].as_str().unwrap_or_default();
        let Some(value) = case.arguments.get(name) else { continue };
        let given = plain(value);
        let value = if parameter.get("content").is_some() { json!(given.to_string()) } else { given };
        let location = parameter["in"].as_str().unwrap_or_default();
        let default = if matches!(location, "query" | "cookie") { "form" } else { "simple" };
        let style = parameter["style"].as_str().unwrap_or(default);
        let explode = parameter["explode"].as_bool().unwrap_or(style == "form");
        match location {
            "path" => path = path.replace(&format!("{{{name}}}"), &path_text(name, &value, style, explode)),
            "query" => query.extend(query_pairs(name, &value, style, explode)),
            "header" => headers.push((name.to_string(), joined(&value, explode, ",", str::to_string))),
            _ => cookies.extend(cookie_pairs(name, &value, explode)),
        }
    }
    if let Some(key) = case.credential("keyQuery") {
        query.push(("api_key".to_string(), key));
    }
    if let Some(key) = case.credential("keyCookie") {
        cookies.push(format!("api_key={key}"));
    }
    let method = Method::from_bytes(method.to_uppercase().as_bytes()).map_err(|error| error.to_string())?;
    let mut request = client.request(method, format!("{base_url}{path}"));
    if !query.is_empty() {
        request = request.query(&query);
    }
    for (name, value) in headers {
        request = request.header(name, value);
    }
    if !cookies.is_empty() {
        request = request.header(COOKIE, cookies.join("; "));
    }
    if let Some(token) = case.credential("bearer") {
        request = request.header(AUTHORIZATION, format!("Bearer {token}"));
    }
    if let Some(key) = case.credential("keyHeader") {
        request = request.header("X-Api-Key", key);
    }
    if let Some((name, password)) = case.basic() {
        request = request.basic_auth(name, password);
    }
    match &case.body {
        None => Ok(request),
        Some(body) => with_body(request, case, body, operation),
    }
}

fn text(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_string)
}

fn joined(value: &Value, explode: bool, delimiter: &str, encode: impl Fn(&str) -> String) -> String {
    let parts: Vec<String> = match value {
        Value::Object(members) if explode => {
            members.iter().map(|(name, member)| format!("{}={}", encode(name), encode(&text(member)))).collect()
        }
        Value::Object(members) => {
            members.iter().flat_map(|(name, member)| [encode(name), encode(&text(member))]).collect()
        }
        Value::Array(items) => items.iter().map(|item| encode(&text(item))).collect(),
        _ => vec![encode(&text(value))],
    };
    parts.join(delimiter)
}

fn path_text(name: &str, value: &Value, style: &str, explode: bool) -> String {
    let encode = |part: &str| urlencoding::encode(part).into_owned();
    match (style, value) {
        ("label", _) => format!(".{}", joined(value, explode, if explode { "." } else { "," }, encode)),
        ("matrix", Value::Array(items)) if explode => {
            items.iter().map(|item| format!(";{name}={}", encode(&text(item)))).collect()
        }
        ("matrix", Value::Object(_)) if explode => format!(";{}", joined(value, true, ";", encode)),
        ("matrix", _) => format!(";{name}={}", joined(value, false, ",", encode)),
        _ => joined(value, explode, ",", encode),
    }
}

fn query_pairs(name: &str, value: &Value, style: &str, explode: bool) -> Vec<(String, String)> {
    let pair = |member: &Value| (name.to_string(), text(member));
    match value {
        Value::Object(members) if style == "deepObject" => members
            .iter()
            .flat_map(|(key, member)| query_pairs(&format!("{name}[{key}]"), member, style, explode))
            .collect(),
        Value::Array(items) if explode => items.iter().map(pair).collect(),
        Value::Object(members) if explode => members.iter().map(|(key, member)| (key.clone(), text(member))).collect(),
        Value::Array(_) | Value::Object(_) => {
            let delimiter = match style {
                "spaceDelimited" => " ",
                "pipeDelimited" => "|",
                _ => ",",
            };
            vec![(name.to_string(), joined(value, false, delimiter, str::to_string))]
        }
        _ => vec![pair(value)],
    }
}

fn cookie_pairs(name: &str, value: &Value, explode: bool) -> Vec<String> {
    match value {
        Value::Object(members) if explode => {
            members.iter().map(|(key, member)| format!("{key}={}", text(member))).collect()
        }
        Value::Array(items) if explode => items.iter().map(|item| format!("{name}={}", text(item))).collect(),
        _ => vec![format!("{name}={}", joined(value, false, ",", str::to_string))],
    }
}

fn with_body(request: RequestBuilder, case: &Case, body: &Value, operation: &Value) -> Result<RequestBuilder, String> {
    let types = operation["requestBody"]["content"].as_object().ok_or("the operation has no body")?;
    let first = types.keys().next().cloned().unwrap_or_default();
    let media_type = case.media_type.clone().unwrap_or(first);
    let value = plain(body);
    Ok(match media_type.as_str() {
        "multipart/form-data" => request.multipart(form_of(&value)?),
        "application/x-www-form-urlencoded" => {
            let members = value.as_object().cloned().unwrap_or_default();
            let pairs: Vec<_> =
                members.iter().flat_map(|(name, member)| query_pairs(name, member, "form", true)).collect();
            request.form(&pairs)
        }
        "application/json" => request.json(&value),
        "application/octet-stream" => {
            request.header(CONTENT_TYPE, media_type).body(bytes_of(body).ok_or("the body has no bytes")?)
        }
        "application/jsonl" => {
            let lines = value.as_array().ok_or("the body is no list")?.iter().map(|item| format!("{item}\n"));
            request.header(CONTENT_TYPE, media_type).body(lines.collect::<String>())
        }
        _ if media_type.contains("json") => request.header(CONTENT_TYPE, media_type).json(&value),
        _ => request.header(CONTENT_TYPE, media_type).body(text(&value)),
    })
}

fn form_of(body: &Value) -> Result<Form, String> {
    let mut form = Form::new();
    for (name, value) in body.as_object().ok_or("the body is no form")? {
        let items = value.as_array().cloned().unwrap_or_else(|| vec![value.clone()]);
        for item in items {
            form = form.part(name.clone(), part_of(&item).map_err(|error| error.to_string())?);
        }
    }
    Ok(form)
}

fn part_of(item: &Value) -> reqwest::Result<Part> {
    match (&item["$file"], item) {
        (Value::Object(file), _) => {
            Part::text(text(&file["text"])).file_name(text(&file["name"])).mime_str(&text(&file["type"]))
        }
        (_, Value::Object(_)) => Part::text(item.to_string()).mime_str("application/json"),
        _ => Ok(Part::text(text(item))),
    }
}

async fn line_of(response: Response) -> Result<Line, String> {
    let status = response.status().as_u16();
    let headers: Line = response
        .headers()
        .iter()
        .map(|(name, value)| (name.to_string(), json!(String::from_utf8_lossy(value.as_bytes()))))
        .collect();
    let media_type = headers.get("content-type").and_then(Value::as_str).unwrap_or_default().to_string();
    let mut line = Line::from_iter([("status".to_string(), json!(status)), ("headers".to_string(), headers.into())]);
    let bytes = response.bytes().await.map_err(|error| error.to_string())?;
    line.extend(decoded(&media_type, &bytes)?.map(|body| ("response".to_string(), body)));
    Ok(line)
}
