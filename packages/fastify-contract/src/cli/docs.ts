import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { dirname, join } from 'node:path'
import { compileContract } from '../compile/compile.ts'
import { rejectStale } from '../compile/emit/generated-files.ts'
import { docsDefaults, writeDocs } from '../docs/docs-page.ts'
import { listen } from '../service/service.ts'
import { commandLine } from './command-line.ts'
import { findDocument } from './project-files.ts'

/** Runs `fastify-contract docs`. */
export async function run(args: string[]): Promise<void> {
  const { options, words } = commandLine(
    `fastify-contract docs [DOCUMENT] [--serve] [--out DIRECTORY] [--document FILE] [--rules FILE]
                      [--generated DIRECTORY] [--released DIRECTORY] [--client MODULE] [--skip-unsupported]

Writes the documentation of the document: index.html and history.html, in dist/docs or --out. The pages load
nothing from a network, so they work offline and from file:// URLs. With --serve it serves them on 127.0.0.1, port PORT
or 8080. If the document cannot be served or the generated files are out of date, it prints why,
exits with 1 and leaves earlier pages unchanged.

The document is DOCUMENT or --document, else openapi.yaml or the only openapi/*.yaml. --rules is the configuration for
bundling, else redocly.yaml if there is one. --generated has the files of fastify-contract generate, else generated.
--released has the released documents, else openapi/released. The code samples import createClient from --client, else
${docsDefaults.client}.
`,
    {
      serve: false,
      out: join('dist', 'docs'),
      document: undefined,
      rules: undefined,
      'skip-unsupported': false,
      ...docsDefaults,
    },
    ['DOCUMENT'],
    args,
  )
  // The page shows the generated openapi.json, the document that the service publishes, so that must be up to date.
  const { files } = await compileContract(findDocument(words[0] ?? options.document), {
    rules: options.rules,
    skipUnsupported: options['skip-unsupported'],
  })
  await rejectStale(files, options.generated)
  const page = await writeDocs(options.out, options)
  console.log(`wrote ${page}`)
  if (options.serve) await serve(page)
}

/** Serves index.html and history.html, and nothing else, on 127.0.0.1. Reads the files at each request. */
async function serve(page: string): Promise<void> {
  const server = createServer(async ({ method, url }, response) => {
    const [found, name = 'index.html'] = /^\/((?:index|history)\.html)?(?=\?|$)/.exec(url ?? '') ?? []
    const file = join(dirname(page), name)
    if (found !== undefined && (method === 'GET' || method === 'HEAD'))
      response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(await readFile(file))
    else response.writeHead(404).end()
  })
  const address = { host: '127.0.0.1', port: Number(process.env.PORT || 8080) }
  const url = await listen((address) => once(server.listen(address), 'listening'), server, address)
  console.log(`${url}/`)
}
