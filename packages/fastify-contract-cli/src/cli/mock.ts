import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Contract } from 'fastify-contract/contract'
import { parseExactJson } from 'fastify-contract/json'
import { listen } from 'fastify-contract/service'
import type { Document } from '../document/openapi-document.ts'
import { compileContract } from '../emit/compile.ts'
import { skippedOperations } from '../emit/skipped-operations-json.ts'
import { describedErrorBody } from '../init/error-body.ts'
import { generatedContract, mockServer } from '../mock/mock-server.ts'
import { normalizedDocument } from '../passes/normalize.ts'
import { terminalText, visible } from '../text/source-text.ts'
import { commandLine } from './command-line.ts'
import { withProgress } from './progress.ts'
import {
  errorModule,
  findDocument,
  findErrorModule,
  loadErrorModule,
  overlaysHelp,
  overlaysOf,
} from './project-files.ts'

/** Runs `fastify-contract mock`. */
export async function run(args: string[]): Promise<void> {
  const { options, words } = commandLine(
    `fastify-contract mock [DOCUMENT] [OPTIONS]

Responds like the service, with the examples of the document and without a store, so that a client can be written before
the handlers. Requests are authenticated (with any credentials), parsed, validated and rejected as by the service.
Listens on 127.0.0.1, on the port PORT (default: 3000).

DOCUMENT              the OpenAPI document, which needs no project; operations that cannot be served respond with 501
                      (default: the generated files, or without them as of fastify-contract generate)
${overlaysHelp}
--generated DIRECTORY the files of fastify-contract generate (default: generated)
--rules FILE          the configuration for bundling DOCUMENT, such as decorators (default: redocly.yaml if it exists)
--errors FILE         the module whose errorBody creates the bodies of errors (default: ${errorModule} if it exists,
                      or else bodies as the document describes them, with examples of what only you can fill)
--realm NAME          the realm in the challenges of 401 (default: the title of the document)

A request selects its response with the header Prefer (RFC 7240): code=409 for the response with that status,
example=NAME for one of several examples. The header Preference-Applied names the preferences that were applied.
`,
    { generated: 'generated', overlays: undefined, rules: undefined, errors: findErrorModule(), realm: undefined },
    ['DOCUMENT'],
    args,
  )
  try {
    const [given] = words
    const hasFiles = options.generated !== 'generated' || existsSync(join(options.generated, 'contract.mjs'))
    const contract =
      given === undefined && hasFiles
        ? await generatedContract(options.generated)
        : await compiledContract(findDocument(given), options)
    const errorBody = await loadedErrorBody(options.errors).catch(function useDescribed(error: Error) {
      if (options.errors !== errorModule) throw error
      console.warn(terminalText(`mock: ${errorModule} is not used: ${error.message}`))
    })
    const { title, version, app } = mockServer(contract, errorBody ?? errorBodyOf(contract), { realm: options.realm })
    const address = { host: '127.0.0.1', port: portOf(process.env.PORT || '3000') }
    const url = await listen((address) => app.listen(address), app.server, address)
    console.log(visible(`mock of ${title} ${version} on ${url}; it accepts any token`))
  } catch (error) {
    throw new Error(`mock: ${(error as Error).message}`)
  }
}

/** Returns a port (0 picks a free one). */
function portOf(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) < 65_536) return Number(text)
  throw new Error(`PORT is ${JSON.stringify(text)}; expected an integer from 0 to 65535`)
}

const loadedErrorBody = async (path: string | undefined) =>
  path === undefined ? undefined : (await loadErrorModule(path)).errorBody

/** Compiles a document, and prints the operations that cannot be served. */
async function compiledContract(
  document: string,
  given: { overlays: string | undefined; rules: string | undefined },
): Promise<Required<Contract>> {
  const { rules } = given
  const overlays = overlaysOf(document, given.overlays)
  const { contract, skipped } = await withProgress((onStep) =>
    compileContract(document, { overlays, rules, skipUnsupported: true, onStep }),
  )
  for (const { operation, reasons } of skippedOperations(skipped))
    console.warn(terminalText(`${document}: ${operation} responds with 501: ${reasons.join('; ')}`))
  return contract
}

const errorBodyOf = ({ documentText, routes }: Contract) =>
  describedErrorBody({ document: normalizedDocument(parseExactJson(documentText) as Document), routes })
