import { UsageError } from 'fastify-contract/token-command'
import { sample } from '../init/named-document.ts'
import { partNames } from '../init/optional-files.ts'
import { askChoice, type Choice, canAsk } from '../init/questions.ts'
import { writeProject } from '../init/write-project.ts'
import { terminalText } from '../text/source-text.ts'
import { commandLine } from './command-line.ts'
import { fetchingStep, withProgress } from './progress.ts'
import { listOf } from './project-settings.ts'

/** Runs `fastify-contract init`. */
export async function run(args: string[]): Promise<void> {
  const { options, words } = commandLine(
    `fastify-contract init [DOCUMENT] [DIRECTORY] [OPTIONS]
fastify-contract init DOCUMENT --into DIRECTORY [OPTIONS]

Writes a service for an OpenAPI document into DIRECTORY (default: the current directory): a handler for each operation,
which returns the example of the document or a value made from the schema, the verifiers of its security schemes, the
bodies of its errors, the process around it, a test, the generated files, and the documentation. The service runs at
once, with npm install and npm start: without tsx if the Node.js that runs init strips types. The commands are those of
pnpm if that runs init, or has a file in or above DIRECTORY. If init itself is not from a registry, the project has its
packages as files, in vendor/.

DOCUMENT is a file or a URL of HTTPS. A document outside of DIRECTORY is copied with all its files. That of a URL is fetched
with the files of its origin to which it refers; fastify-contract generate --update fetches it again. Without DOCUMENT,
init asks for it on a terminal, and writes a sample with three operations elsewhere.

With --into, DIRECTORY has a Fastify application. Then init writes the handlers, the errors, the verifier of tokens and a
plugin with the operations, in the language and module system of the application, and prints what to add to it.

If one of the files that the service needs exists, init names it and writes nothing. Of the other files, it leaves out
those that exist.

The document may refer to files in its own directory and below, and init rejects a reference to any other file: a document
of somebody else must not decide what is read.

--into DIRECTORY      add the operations to the application in DIRECTORY, without changing one of its files
--install             install the packages of the project, so that npm start is the next command
--without PARTS       leave out files that the service does not need: some of ${partNames}
--sample              write the sample, into the only argument DIRECTORY
--allow-origin LIST   other origins to which a fetched document may refer, such as https://example.com, separated by commas
--include-outside     read and copy the files to which the document refers, wherever they are
--rules FILE          the configuration for bundling, such as decorators (default: none: the plugins of a redocly.yaml
                      are code, which a folder of somebody else must not run)
`,
    {
      into: undefined,
      install: false,
      without: '',
      'include-outside': false,
      rules: undefined,
      sample: false,
      'allow-origin': undefined,
    },
    ['DOCUMENT', 'DIRECTORY'],
    args,
  )
  const { into, install, rules } = options
  if (into !== undefined && (words.length !== 1 || options.sample || install || options.without !== ''))
    throw new UsageError('init: --into needs DOCUMENT, and no DIRECTORY, --sample, --install and --without')
  const choice = await chosen(into === undefined ? words : [...words, into], options.sample)
  const printed = await withProgress((onStep) =>
    writeProject({
      ...choice,
      hasApplication: into !== undefined,
      install,
      without: listOf(options.without),
      includeOutside: options['include-outside'],
      rules,
      allowedOrigins: listOf(options['allow-origin']),
      onStep,
      onFile: fetchingStep(onStep),
    }),
  )
  console.log(terminalText(printed))
}

/** Returns what the words of the command line name, or a person names, or the sample. */
async function chosen(words: string[], isSample: boolean): Promise<Choice> {
  if (isSample && words.length > 1) throw new Error('init: --sample is the document; name only a DIRECTORY')
  const [document, directory] = isSample ? [sample, words[0]] : words
  if (document === undefined && canAsk()) return await askChoice(directory)
  return { document: document ?? sample, directory: directory ?? '.' }
}
