import { contractFiles, refuseStale, writeStale } from './generate/contract-files.ts'
import { printHandlerStubs } from './generate/handler-stubs.ts'
import { commandLine } from './system/command-line.ts'

const { options } = commandLine(
  `npm run generate [-- --check] [--document FILE] [--out DIRECTORY]

Lints and bundles the document and writes from it what the server and its client are built on.
For each operation that is new a handler is printed, to be pasted: nothing is ever written into src.
With --check nothing is written; exit 1 and the names of the files that differ when they are not up to date.
`,
  { check: false, document: 'openapi/plant-store.yaml', out: 'generated' },
)

try {
  const files = await contractFiles(options.document)
  if (!options.check) {
    await printHandlerStubs(files, options.out)
    const written = await writeStale(files, options.out)
    console.log(written.length > 0 ? `wrote ${written.join(', ')}` : 'up to date')
  } else {
    await refuseStale(files, options.out)
  }
} catch (error) {
  console.error((error as Error).message)
  process.exitCode = 1
}
