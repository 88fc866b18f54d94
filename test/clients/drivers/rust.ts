import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type BuildContext, type Built, NotAvailable } from '../driver.ts'

/** Runs cargo with the directory of artifacts that all clients of a run share. */
export async function cargo(context: BuildContext, args: string[], cwd = context.directory): Promise<string> {
  await context.run('cargo', ['--version']).catch(() => {
    throw new NotAvailable('cargo; install Rust 1.88 or later')
  })
  const env = { CARGO_TARGET_DIR: targetOf(context), CARGO_TERM_COLOR: 'never' }
  return context.run('cargo', args, { cwd, env })
}

const targetOf = ({ directory }: BuildContext): string => join(directory, '..', 'cargo-target')

/**
 * Compiles a client in the folder `client`, and returns the command that runs it.
 *
 * @param calls The code of its module `calls`, which has a function `send`.
 * @param dependencies Lines of the manifest besides those of the modules that drivers share.
 */
export async function rustClient(
  context: BuildContext,
  name: string,
  calls: string,
  dependencies: string[] = [],
): Promise<Built> {
  const crate = join(context.directory, 'client')
  const source = join(crate, 'src')
  mkdirSync(source, { recursive: true })
  const shared = fileURLToPath(new URL('rust/run_cases.rs', import.meta.url))
  copyFileSync(shared, join(source, 'run_cases.rs'))
  const main = `mod calls;
mod run_cases;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    run_cases::run(calls::send).await
}
`
  writeFileSync(join(source, 'main.rs'), main)
  writeFileSync(join(source, 'calls.rs'), calls)
  const { reqwest, tokio, serde_json: json, base64, urlencoding } = context.versions
  const features = '["json", "multipart", "query", "form", "stream"]'
  const manifest = `[package]
name = "${name}"
version = "1.0.0"
edition = "2024"

[dependencies]
base64 = "=${base64}"
reqwest = { version = "=${reqwest}", default-features = false, features = ${features} }
serde = "1"
serde_json = { version = "=${json}", features = ["preserve_order"] }
tokio = { version = "=${tokio}", features = ["macros", "rt"] }
urlencoding = "=${urlencoding}"
${dependencies.join('\n')}

[workspace]
`
  writeFileSync(join(crate, 'Cargo.toml'), manifest)
  await cargo(context, ['build', '--quiet', '-j2'], crate)
  return { command: [join(targetOf(context), 'debug', name), context.documentJson] }
}
