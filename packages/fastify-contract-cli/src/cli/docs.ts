import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { dirname, join } from 'node:path'
import { writeDocs } from '../docs/docs-page.ts'
import { docsDefaults, docsDirectory } from '../docs/source-mark.ts'
import { compileContract } from '../emit/compile.ts'
import { rejectStale } from '../emit/generated-files.ts'
import { commandLine } from './command-line.ts'
import { withProgress } from './progress.ts'
import { documentHelp, findDocument, overlaysOf, sampleClient, skipsUnsupported } from './project-files.ts'

/** Runs `fastify-contract docs`. */
export async function run(args: string[]): Promise<void> {
  const { options, words } = commandLine(
    `fastify-contract docs [DOCUMENT] [OPTIONS]

Writes the documentation of the document: index.html, history.html, and the document itself, openapi.json. The pages
load nothing from a network, so they work offline and from file:// URLs. If the document cannot be served or the
generated files are out of date, the command prints why, exits with 1 and leaves earlier pages unchanged.

${documentHelp}
--out DIRECTORY       the directory of the pages (default: ${docsDirectory})
--generated DIRECTORY the files of fastify-contract generate (default: ${docsDefaults.generated})
--released DIRECTORY  the released documents (default: ${docsDefaults.released})
--client MODULE       the module from which the code samples import createClient (default: that of
                      package.json, or ${docsDefaults.client})
--serve               serve the pages on 127.0.0.1, on the port PORT (default: 8080)
`,
    {
      serve: false,
      out: docsDirectory,
      document: undefined,
      overlays: undefined,
      rules: undefined,
      'skip-unsupported': skipsUnsupported(),
      ...docsDefaults,
      client: sampleClient(),
    },
    ['DOCUMENT'],
    args,
  )
  // The page shows the generated openapi.json, the document that the service publishes, so that must be up to date.
  const page = await withProgress(async function writePages(onStep) {
    const { rules, 'skip-unsupported': skipUnsupported } = options
    const document = findDocument(words[0] ?? options.document)
    const compiled = await compileContract(document, {
      overlays: overlaysOf(document, options.overlays),
      rules,
      skipUnsupported,
      onStep,
    })
    await rejectStale(compiled.files, options.generated)
    onStep('writing the documentation')
    return await writeDocs(options.out, options, compiled)
  })
  console.log(`wrote ${page}, history.html and openapi.json`)
  if (options.serve) await serve(page)
}

/** The files that --serve serves, with their media types. */
const served: Record<string, string> = {
  'index.html': 'text/html; charset=utf-8',
  'history.html': 'text/html; charset=utf-8',
  'openapi.json': 'application/json',
}

/** Serves these files, and nothing else, on 127.0.0.1. Reads them at each request. */
async function serve(page: string): Promise<void> {
  const { listen } = await import('fastify-contract/service')
  const server = createServer(sendPage)
  const address = { host: '127.0.0.1', port: Number(process.env.PORT || 8080) }
  const url = await listen((address) => once(server.listen(address), 'listening'), server, address)
  console.log(`${url}/`)

  async function sendPage({ method, url }: IncomingMessage, response: ServerResponse): Promise<void> {
    const [, path = ''] = /^\/([^?]*)/.exec(url ?? '') ?? []
    const name = path || 'index.html'
    const isServed = Object.hasOwn(served, name) && (method === 'GET' || method === 'HEAD')
    // Another command may have removed the file.
    const body = isServed ? await readFile(join(dirname(page), name)).catch(() => undefined) : undefined
    if (body === undefined) response.writeHead(404).end()
    else response.writeHead(200, { 'content-type': served[name] }).end(body)
  }
}
