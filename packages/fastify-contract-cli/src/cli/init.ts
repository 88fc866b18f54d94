import { UsageError } from 'fastify-contract/token-command'
import { sample } from '../init/named-document.ts'
import { partNames } from '../init/optional-files.ts'
import { askChoice, type Choice, canAsk } from '../init/questions.ts'
import { terminalText } from '../text/source-text.ts'
import { commandLine } from './command-line.ts'
import { fetchingStep, withProgress } from './progress.ts'
import { listOf } from './project-settings.ts'

/** Runs `fastify-contract init`. */
export async function run(args: string[]): Promise<void> {
  const { options, words } = commandLine(
    `fastify-contract init [DOCUMENT] [DIRECTORY] [OPTIONS]
fastify-contract init DOCUMENT --into DIRECTORY [OPTIONS]

Writes a service for an OpenAPI document, which runs at once with npm install and npm start: handlers that return the
example of each operation or a value made from its schema, verifiers of tokens, the bodies of errors, the process, a
test, the generated files, the documentation, and the files to ship it. If a file that the service needs exists, init
names it and writes nothing. Of the other files, it leaves out those that exist.

With --into, adds the operations to a Fastify application instead: handlers, the bodies of errors, a verifier of
tokens and a plugin, in the language and the module system of the application. Changes none of its files, and prints
what to add.

The project uses pnpm if pnpm runs init or has a file in or above DIRECTORY, and tsx if the Node.js that runs init
does not strip types. If init did not come from a registry, the project has its packages as files, in vendor/.

DOCUMENT              the OpenAPI document, a file or a URL of HTTPS (default: init asks for it on a terminal, and
                      writes the sample elsewhere). A file outside of DIRECTORY is copied and a URL is fetched, each
                      with the files to which it refers; fastify-contract generate --update fetches a URL again
DIRECTORY             the directory of the project (default: the current one)
--into DIRECTORY      the directory of the application to which the operations are added
--sample              write the sample, which has three operations; the only argument is DIRECTORY
--install             install the packages of the project, so that npm start is the next command
--without PARTS       leave out files that the service does not need, some of:
                      ${partNames}
--overlays LIST       overlays of DOCUMENT, files separated by commas; those elsewhere are copied to overlays/
--rules FILE          the configuration for bundling, such as decorators (default: none, because the plugins of a
                      redocly.yaml are code, which a directory of somebody else must not run)
--include-outside     read and copy also files outside of the directory of DOCUMENT; without it, init rejects a
                      reference to them, because a document of somebody else must not decide what is read
--allow-origin LIST   other origins to which a fetched document may refer, such as https://example.com, separated by
                      commas
`,
    {
      into: undefined,
      sample: false,
      install: false,
      without: '',
      rules: undefined,
      overlays: undefined,
      'include-outside': false,
      'allow-origin': undefined,
    },
    ['DOCUMENT', 'DIRECTORY'],
    args,
  )
  const { into, install, rules } = options
  if (into !== undefined && (words.length !== 1 || options.sample || install || options.without !== ''))
    throw new UsageError('init: --into needs DOCUMENT, and no DIRECTORY, --sample, --install and --without')
  const choice = await chosen(into === undefined ? words : [...words, into], options.sample)
  const { writeProject } = await import('../init/write-project.ts')
  const printed = await withProgress((onStep) =>
    writeProject({
      ...choice,
      hasApplication: into !== undefined,
      install,
      without: listOf(options.without),
      includeOutside: options['include-outside'],
      rules,
      overlays: listOf(options.overlays),
      allowedOrigins: listOf(options['allow-origin']),
      onStep,
      onFile: fetchingStep(onStep),
    }),
  )
  console.log(terminalText(printed))
}

/** Returns what the words of the command line name, or a person names, or the sample. */
async function chosen(words: string[], isSample: boolean): Promise<Choice> {
  if (isSample && words.length > 1) throw new UsageError('init: --sample is the document; name only a DIRECTORY')
  const [document, directory] = isSample ? [sample, words[0]] : words
  if (document === undefined && canAsk()) return await askChoice(directory)
  return { document: document ?? sample, directory: directory ?? '.' }
}
