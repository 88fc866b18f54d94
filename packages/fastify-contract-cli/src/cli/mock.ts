import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Contract } from 'fastify-contract/contract'
import { parseExactJson } from 'fastify-contract/json'
import { listen } from 'fastify-contract/service'
import type { Document } from '../document/openapi-document.ts'
import { compileContract } from '../emit/compile.ts'
import { skippedOperations } from '../emit/skipped-operations-json.ts'
import { describedErrorBody } from '../init/error-body.ts'
import { generatedContract, type MockedContract, mockServers } from '../mock/mock-server.ts'
import { normalizedDocument } from '../passes/normalize.ts'
import { terminalText, visible } from '../text/source-text.ts'
import { commandLine } from './command-line.ts'
import { withProgress } from './progress.ts'
import { forEachDocument, type ProjectDocument, projectDocuments } from './project-documents.ts'
import { errorModule, loadErrorModule, onlyHelp, overlaysHelp } from './project-files.ts'

/** Runs `fastify-contract mock`. */
export async function run(args: string[]): Promise<void> {
  const { options, words } = commandLine(
    `fastify-contract mock [DOCUMENT] [OPTIONS]

Responds like the service, with the examples of the document and without a store, so that a client can be written before
the handlers. Requests are authenticated (with any credentials), parsed, validated and rejected as by the service.
Listens on 127.0.0.1, on the port PORT (default: 3000).

DOCUMENT              the OpenAPI document, which needs no project; operations that cannot be served respond with 501
                      (default: the generated files, or without them as of fastify-contract generate)
${onlyHelp}
${overlaysHelp}
--generated DIRECTORY the files of fastify-contract generate (default: generated)
--rules FILE          the configuration for bundling DOCUMENT, such as decorators (default: redocly.yaml if it exists)
--errors FILE         the module whose errorBody creates the bodies of errors (default: ${errorModule} if it exists,
                      or else bodies as the document describes them, with examples of what only you can fill)
--realm NAME          the realm in the challenges of 401 (default: the title of the document)

A request selects its response with the header Prefer (RFC 7240): code=409 for the response with that status,
example=NAME for one of several examples. The header Preference-Applied names the preferences that were applied.
`,
    {
      generated: 'generated',
      only: undefined,
      overlays: undefined,
      rules: undefined,
      errors: undefined,
      realm: undefined,
    },
    ['DOCUMENT'],
    args,
  )
  try {
    const [given] = words
    const { only, overlays } = options
    const documents = projectDocuments({ given, only, overlays })
    const mocked: MockedContract[] = []
    await forEachDocument(documents, 'plain', async (one) => {
      mocked.push(await mockedContract(one, given !== undefined, options))
    })
    const [first, ...others] = mocked
    // A document that cannot be read is reported; requests of a client to it would all fail.
    if (first === undefined || mocked.length < documents.length) return
    const app = mockServers([first, ...others])
    const address = { host: '127.0.0.1', port: portOf(process.env.PORT || '3000') }
    const url = await listen((address) => app.listen(address), app.server, address)
    for (const { prefix, contract } of mocked) {
      const { title, version } = contract.routes.info
      console.log(visible(`mock of ${title} ${version} on ${url}${prefix}; it accepts any token`))
    }
  } catch (error) {
    throw new Error(`mock: ${(error as Error).message}`)
  }
}

/** What the command line says about the contract of a document. */
type MockedOptions = {
  generated: string
  rules: string | undefined
  errors: string | undefined
  realm: string | undefined
}

/** Loads or compiles what a mock serves of a document. */
async function mockedContract(
  one: ProjectDocument,
  isGiven: boolean,
  { rules, realm, ...options }: MockedOptions,
): Promise<MockedContract> {
  const generated = one.in(options.generated)
  const hasFiles = options.generated !== 'generated' || existsSync(join(generated, 'contract.mjs'))
  const contract = !isGiven && hasFiles ? await generatedContract(generated) : await compiledContract(one, rules)
  const errors = one.errorModule(options.errors)
  const errorBody = await loadedErrorBody(errors).catch(function useDescribed(error: Error) {
    if (options.errors !== undefined && options.errors !== errorModule) throw error
    console.warn(terminalText(`mock: ${errors} is not used: ${error.message}`))
  })
  return { prefix: one.prefix, contract, errorBody: errorBody ?? errorBodyOf(contract), realm }
}

/** Returns a port (0 picks a free one). */
function portOf(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) < 65_536) return Number(text)
  throw new Error(`PORT is ${JSON.stringify(text)}; expected an integer from 0 to 65535`)
}

const loadedErrorBody = async (path: string | undefined) =>
  path === undefined ? undefined : (await loadErrorModule(path)).errorBody

/** Compiles a document, and prints the operations that cannot be served. */
async function compiledContract(one: ProjectDocument, rules: string | undefined): Promise<Required<Contract>> {
  const document = one.path()
  const { contract, skipped } = await withProgress((onStep) =>
    compileContract(document, { overlays: one.overlays(), rules, skipUnsupported: true, onStep }),
  )
  for (const { operation, reasons } of skippedOperations(skipped))
    console.warn(terminalText(`${document}: ${operation} responds with 501: ${reasons.join('; ')}`))
  return contract
}

const errorBodyOf = ({ documentText, routes }: Contract) =>
  describedErrorBody({ document: normalizedDocument(parseExactJson(documentText) as Document), routes })
