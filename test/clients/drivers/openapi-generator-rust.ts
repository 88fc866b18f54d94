import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Build } from '../driver.ts'
import { generateClient } from '../openapi-generator.ts'
import { rustClient } from './rust.ts'
import { compileErrors, functionsOf, type RustFunction } from './rust-functions.ts'
import { generateWhatCompiles } from './what-compiles.ts'

export const build: Build = async (context) => {
  const crate = join(context.directory, 'generated')
  const missing = await generateWhatCompiles(
    context,
    (reduced) => generateClient(reduced, 'rust', 'generated'),
    () => compileErrors(context, crate),
    /^pub async fn (\w+)\(/,
  )
  const functions = functionsOf(context, readFileSync(join(crate, 'src', 'apis', 'default_api.rs'), 'utf8'), true)
  const calls = beginning + functions.map(armOf).join('') + end
  const dependencies = ['openapi = { path = "../generated", default-features = false }']
  return { ...(await rustClient(context, 'openapi-generator-rust', calls, dependencies)), missing }
}

/** Returns the arm of the match that sends an operation. */
function armOf({ operation, name, parameters, result }: RustFunction): string {
  const values = parameters.map(({ type, source }) => {
    const read = source === undefined ? 'case.body' : 'case.argument'
    const given = source === undefined ? '' : JSON.stringify(source)
    if (type === '&str') return `&${read}::<String>(${given})?`
    if (type === 'Option<&str>') return `${read}::<Option<String>>(${given})?.as_deref()`
    if (type === 'std::path::PathBuf') return `file_of(&case, ${given === '' ? '"body"' : given})?`
    return type === 'Vec<std::path::PathBuf>' ? `files_of(&case, ${given})?` : `${read}(${given})?`
  })
  const call = `default_api::${name}(${['&configuration', ...values].join(', ')}).await`
  const answer = result === 'reqwest::Response' ? `bytes_from(${call}).await` : `answer(${call})`
  return `        ${JSON.stringify(operation)} => ${answer},\n`
}

const beginning = `use crate::run_cases::{Case, Line, bytes_of, tagged};
use openapi::apis::configuration::{ApiKey, Configuration};
use openapi::apis::{Error, default_api};
use serde::Serialize;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::time::Duration;

/// Writes a file of a case into a directory, because the client takes paths.
fn file_from(value: &Value) -> Result<PathBuf, String> {
    let bytes = bytes_of(value).unwrap_or_else(|| value["$file"]["text"].as_str().unwrap_or_default().into());
    let path = std::env::temp_dir().join(format!("clients-{}", std::process::id()));
    std::fs::create_dir_all(&path).map_err(|error| error.to_string())?;
    let file = path.join(value["$file"]["name"].as_str().unwrap_or("body"));
    std::fs::write(&file, bytes).map_err(|error| error.to_string())?;
    Ok(file)
}

fn file_of(case: &Case, name: &str) -> Result<PathBuf, String> {
    let body = case.body.as_ref().ok_or("no body")?;
    file_from(body.get(name).unwrap_or(body))
}

fn files_of(case: &Case, name: &str) -> Result<Vec<PathBuf>, String> {
    let body = case.body.as_ref().ok_or("no body")?;
    body[name].as_array().ok_or("no list")?.iter().map(file_from).collect()
}

fn answer<T: Serialize, E: Serialize + std::fmt::Debug>(result: Result<T, Error<E>>) -> Result<Option<Line>, String> {
    match result {
        Ok(value) => Ok(Some(Line::from_iter([("response".to_string(), json!(value))]))),
        Err(Error::ResponseError(content)) => Ok(Some(Line::from_iter([
            ("status".to_string(), json!(content.status.as_u16())),
            ("response".to_string(), json!(content.entity)),
        ]))),
        Err(error) => Err(format!("{error:?}")),
    }
}

async fn bytes_from<E: Serialize + std::fmt::Debug>(
    result: Result<reqwest::Response, Error<E>>,
) -> Result<Option<Line>, String> {
    match result {
        Ok(response) => {
            let bytes = response.bytes().await.map_err(|error| error.to_string())?;
            Ok(Some(Line::from_iter([("response".to_string(), tagged(&bytes))])))
        }
        Err(error) => answer::<(), E>(Err(error)),
    }
}

pub async fn send(case: Case, base_url: String, _: Value) -> Result<Option<Line>, String> {
    let keys = ["keyHeader", "keyQuery", "keyCookie"];
    let configuration = Configuration {
        base_path: base_url,
        client: reqwest::Client::builder().timeout(Duration::from_secs(20)).build().map_err(|error| error.to_string())?,
        bearer_access_token: case.credential("bearer"),
        basic_auth: case.basic(),
        api_key: keys.iter().find_map(|scheme| case.credential(scheme)).map(|key| ApiKey { prefix: None, key }),
        ..Configuration::new()
    };
    match case.operation.as_str() {
`

const end = `        _ => Ok(None),
    }
}
`
