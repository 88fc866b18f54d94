import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { join } from 'node:path'
import { writeDocs } from '../docs/docs-page.ts'
import { writeIndexPage } from '../docs/index-page.ts'
import { docsDefaults, docsDirectory } from '../docs/source-mark.ts'
import { compileContract } from '../emit/compile.ts'
import { rejectStale } from '../emit/generated-files.ts'
import { commandLine } from './command-line.ts'
import { withProgress } from './progress.ts'
import { documentPrefixes, forEachDocument, type ProjectDocument, projectDocuments } from './project-documents.ts'
import { documentHelp } from './project-files.ts'

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
      only: undefined,
      overlays: undefined,
      rules: undefined,
      'skip-unsupported': false,
      ...docsDefaults,
      client: undefined,
    },
    ['DOCUMENT'],
    args,
  )
  const { only, overlays, out } = options
  const documents = projectDocuments({ given: words[0] ?? options.document, only, overlays })
  await forEachDocument(documents, 'plain', (one) => writePages(one, options))
  const prefixes = documents[0].name === undefined ? [] : documentPrefixes()
  if (prefixes.length > 0) console.log(`wrote ${await writeIndexPage(out, prefixes)}`)
  if (options.serve) await serve(out, prefixes)
}

/** The options of the pages of a document. */
type PagesOptions = {
  out: string
  generated: string
  released: string
  client: string | undefined
  rules: string | undefined
  'skip-unsupported': boolean
}

async function writePages(one: ProjectDocument, { rules, out, ...options }: PagesOptions): Promise<void> {
  // The page shows the generated openapi.json, the document that the service publishes, so that must be up to date.
  const generated = one.in(options.generated)
  const page = await withProgress(async function writePages(onStep) {
    const document = one.path()
    const compiled = await compileContract(document, {
      overlays: one.overlays(),
      rules,
      skipUnsupported: one.skipsUnsupported(options['skip-unsupported']),
      onStep,
    })
    await rejectStale(compiled.files, generated)
    onStep('writing the documentation')
    const shown = { generated, released: one.in(options.released), client: one.client(options.client) }
    return await writeDocs(one.pagesIn(out), shown, compiled)
  })
  console.log(`wrote ${page}, history.html and openapi.json`)
}

/** The files that --serve serves, with their media types. */
const served: Record<string, string> = {
  'index.html': 'text/html; charset=utf-8',
  'history.html': 'text/html; charset=utf-8',
  'openapi.json': 'application/json',
}

/** Serves these files of a directory, or of the directories of several documents, on 127.0.0.1, and nothing else. */
async function serve(directory: string, prefixes: string[]): Promise<void> {
  const { listen } = await import('fastify-contract/service')
  const server = createServer(sendPage)
  const address = { host: '127.0.0.1', port: Number(process.env.PORT || 8080) }
  const url = await listen((address) => once(server.listen(address), 'listening'), server, address)
  console.log(`${url}/`)

  // Reads the files at each request.
  async function sendPage({ method, url }: IncomingMessage, response: ServerResponse): Promise<void> {
    const [, place, path = ''] = /^((?:\/[^/?]+)*)\/([^/?]*)(?:\?|$)/.exec(url ?? '') ?? []
    const name = path || 'index.html'
    const isPage = Object.hasOwn(served, name) && place !== undefined && ['', ...prefixes].includes(place)
    const isServed = isPage && (method === 'GET' || method === 'HEAD')
    // Another command may have removed the file.
    const body = isServed ? await readFile(join(directory, String(place), name)).catch(() => undefined) : undefined
    if (body === undefined) response.writeHead(404).end()
    else response.writeHead(200, { 'content-type': served[name] }).end(body)
  }
}
