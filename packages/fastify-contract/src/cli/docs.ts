import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { compileContract } from '../compile/compile.ts'
import { rejectStale } from '../compile/emit/generated-files.ts'
import { writeDocs } from '../docs/docs-page.ts'
import { commandLine } from './command-line.ts'

const { options } = commandLine(
  `npm run docs [-- --serve] [--out DIRECTORY]

Lints the document and writes its documentation: dist/docs/index.html and history.html. The pages load nothing, so they
work from a disk or in a closed network and do not track readers. With --serve it serves them on 127.0.0.1, port PORT or
8080. If the linter has findings or generated/ is out of date, it prints them, exits with 1 and leaves earlier pages
unchanged.
`,
  { out: join('dist', 'docs'), serve: false },
)

try {
  // The page shows generated/openapi.json, the document that the service publishes, so that must be up to date.
  await rejectStale((await compileContract(join('openapi', 'plant-store.yaml'))).files, 'generated')
  const page = await writeDocs(options.out)
  console.log(`wrote ${page}`)
  if (options.serve) await serve(page)
} catch (error) {
  console.error((error as Error).message)
  process.exitCode = 1
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
  server.on('error', (error) => {
    console.error(error.message)
    process.exitCode = 1
  })
  server.listen(Number(process.env.PORT || 8080), '127.0.0.1', () => {
    console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
  })
}
