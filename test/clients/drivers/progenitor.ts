import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Build, BuildContext } from '../driver.ts'
import { cargo, rustClient } from './rust.ts'
import { compileErrors, functionsOf, type RustFunction } from './rust-functions.ts'
import { generateWhatCompiles } from './what-compiles.ts'

export const build: Build = async (context) => {
  const generator = join(context.directory, 'bin', 'cargo-progenitor')
  const version = context.versions['cargo-progenitor']
  if (!existsSync(generator))
    await cargo(context, ['install', '--debug', '--locked', '-j2', '--root', '.', `cargo-progenitor@${version}`])
  const refused = await refusedOperations(context, generator)
  const crate = join(context.directory, 'generated')
  const missing = await generateWhatCompiles(
    context,
    ({ document30Json }) => generate(context, generator, document30Json),
    () => compileErrors(context, crate),
    /pub async fn (\w+)</,
    refused,
  )
  const functions = functionsOf(context, readFileSync(join(crate, 'src', 'lib.rs'), 'utf8'), false)
  const calls = beginning + functions.map(armOf).join('') + end
  const dependencies = [
    'everything-client = { path = "../generated", default-features = false }',
    `progenitor-client = "=${version}"`,
    'chrono = { version = "0.4", default-features = false, features = ["serde"] }',
    'futures = "0.3"',
  ]
  return { ...(await rustClient(context, 'progenitor', calls, dependencies)), missing }
}

async function generate(context: BuildContext, generator: string, document: string): Promise<void> {
  const args = ['-i', document, '-o', 'generated', '-n', 'everything-client', '-v', '1.0.0']
  await context.run(generator, ['progenitor', ...args], { env: { RUST_BACKTRACE: '0' } })
}

/** Returns the operations for which the generator fails: one of them keeps it from generating any. */
async function refusedOperations(context: BuildContext, generator: string): Promise<Record<string, string>> {
  const operations = [...new Set(context.cases.map(({ operation }) => operation))]
  const refused: Record<string, string> = {}
  for (const operation of operations) {
    const { document30Json } = context.documentsWithout(operations.filter((each) => each !== operation))
    await generate(context, generator, document30Json).catch((error) => {
      const { message } = error as Error
      const [, reason] = /^(?:gen fail: |thread .* panicked at [^\n]*\n)([^\n]+)/m.exec(message) ?? []
      refused[operation] = (reason ?? message).slice(0, 100)
    })
  }
  rmSync(join(context.directory, 'generated'), { recursive: true, force: true })
  return refused
}

/** Returns the arm of the match that sends an operation. */
function armOf({ operation, name, parameters, result, error }: RustFunction): string {
  const values = parameters.map(({ type: annotated, source }) => {
    const type = annotated.replaceAll("&'a ", '&')
    const read = (wanted: string) =>
      source === undefined ? `case.body::<${wanted}>()?` : `case.argument::<${wanted}>(${JSON.stringify(source)})?`
    const [, inner] = /^Option<&(.*)>$/.exec(type) ?? []
    if (type === 'B') return 'bytes_of(&case.body.clone().unwrap_or_default()).ok_or("no bytes")?'
    if (inner === 'str') return `${read('Option<String>')}.as_deref()`
    if (inner !== undefined) return `${read(`Option<${inner}>`)}.as_ref()`
    if (type === '&str') return `&${read('String')}`
    return type.startsWith('&') ? `&${read(type.slice(1))}` : read(type)
  })
  const contentOf = (type: string) => (type.includes('ByteStream') ? 'stream_content' : 'json_content')
  const call = `client.${name}(${values.join(', ')}).await`
  return `        ${JSON.stringify(operation)} => answer(${call}, ${contentOf(result)}, ${contentOf(error)}).await,\n`
}

const beginning = `use crate::run_cases::{Case, Line, bytes_of, decoded};
use base64::{Engine, prelude::BASE64_STANDARD};
use everything_client::{Client, types};
use futures::TryStreamExt;
use progenitor_client::{ByteStream, Error, ResponseValue};
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use serde::Serialize;
use serde_json::{Value, json};
use std::time::Duration;

enum Content {
    Json(Value),
    Stream(ByteStream),
}

fn json_content<T: Serialize>(value: T) -> Content {
    Content::Json(json!(value))
}

fn stream_content(stream: ByteStream) -> Content {
    Content::Stream(stream)
}

async fn line_of<T>(value: ResponseValue<T>, content: fn(T) -> Content) -> Result<Option<Line>, String> {
    let text = |value: &HeaderValue| json!(String::from_utf8_lossy(value.as_bytes()));
    let headers: Line = value.headers().iter().map(|(name, value)| (name.to_string(), text(value))).collect();
    let media_type = headers.get("content-type").and_then(Value::as_str).unwrap_or_default().to_string();
    let mut line =
        Line::from_iter([("status".to_string(), json!(value.status().as_u16())), ("headers".to_string(), headers.into())]);
    let response = match content(value.into_inner()) {
        Content::Json(value) => Some(value),
        Content::Stream(stream) => {
            let chunks: Vec<_> = stream.into_inner().try_collect().await.map_err(|error| error.to_string())?;
            decoded(&media_type, &chunks.concat())?
        }
    };
    line.extend(response.map(|response| ("response".to_string(), response)));
    Ok(Some(line))
}

async fn answer<T, E>(
    result: Result<ResponseValue<T>, Error<E>>,
    content: fn(T) -> Content,
    error_content: fn(E) -> Content,
) -> Result<Option<Line>, String> {
    match result {
        Ok(value) => line_of(value, content).await,
        Err(Error::ErrorResponse(value)) => line_of(value, error_content).await,
        Err(Error::UnexpectedResponse(response)) => {
            Ok(Some(Line::from_iter([("status".to_string(), json!(response.status().as_u16()))])))
        }
        Err(Error::InvalidRequest(message) | Error::Custom(message)) => Err(message),
        Err(Error::InvalidResponsePayload(_, error)) => Err(error.to_string()),
        Err(
            Error::CommunicationError(error) | Error::InvalidUpgrade(error) | Error::ResponseBodyError(error),
        ) => Err(error.to_string()),
    }
}

/// The client knows no credentials: its user gives it an HTTP client with headers.
fn headers_of(case: &Case) -> Option<HeaderMap> {
    let basic = case.basic().map(|(name, password)| BASE64_STANDARD.encode(format!("{name}:{}", password.unwrap_or_default())));
    let pairs = [
        ("authorization", case.credential("bearer").map(|token| format!("Bearer {token}"))),
        ("authorization", basic.map(|basic| format!("Basic {basic}"))),
        ("x-api-key", case.credential("keyHeader")),
        ("cookie", case.credential("keyCookie").map(|key| format!("api_key={key}"))),
    ];
    let mut headers = HeaderMap::new();
    for (name, value) in pairs {
        if let Some(value) = value {
            headers.insert(HeaderName::from_static(name), HeaderValue::from_str(&value).ok()?);
        }
    }
    Some(headers)
}

pub async fn send(case: Case, base_url: String, _: Value) -> Result<Option<Line>, String> {
    let headers = headers_of(&case).ok_or("the credentials do not fit into headers")?;
    let builder = reqwest::Client::builder().timeout(Duration::from_secs(20)).default_headers(headers);
    let client = Client::new_with_client(&base_url, builder.build().map_err(|error| error.to_string())?);
    match case.operation.as_str() {
`

const end = `        _ => Ok(None),
    }
}
`
