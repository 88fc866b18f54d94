import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { devLatencies, documentOfSample, type Edit, handlerOfSample, versionIn } from '../dev-latency.ts'
import { shuffled } from '../statistics.ts'
import type { QuietSlices } from '../steal.ts'
import { initialize, measureInit, projectOfInit } from './first-answer.ts'
import type { Commands } from './installation.ts'
import { measureCommand, onBothCores, type Usage } from './measure-command.ts'
import { pets, publicDocuments, type RealDocument, readDocument, type Source } from './real-documents.ts'
import { type TscFigures, tscFigures, writeTscPeer } from './tsc-project.ts'

/** What a round measures for a row: the command, and openapi-typescript alone with the same document. */
export type Pair = { own: Figures; peer: Figures }

/** The figures of a row; some rows have only some of them. */
export type Figures = Partial<Usage & TscFigures>

/** The pairs of all rounds by row. */
export type Pairs = Map<string, Pair[]>

export type CommandOptions = {
  rounds: number
  /** Whether to measure only the smallest document. */
  quick: boolean
  /** A document to measure instead of the public ones. */
  document: string | undefined
  env: NodeJS.ProcessEnv
  slices: QuietSlices
}

/** Measures the commands with each document. Each sample is a new process, and both of a pair take turns at random. */
export async function measureCommands(commands: Commands, options: CommandOptions): Promise<Pairs> {
  const pairs: Pairs = new Map()
  const { document, quick, rounds } = options
  const given: Source[] =
    document === undefined ? publicDocuments(commands.directory) : [{ name: document, path: document }]
  const documents = (quick ? given.slice(0, 1) : given).map(readDocument)
  const small = readDocument(pets)
  for (let round = 1; round <= rounds; round++) {
    console.error(`round ${round} of ${rounds}: ${small.name}`)
    await new Project(small, commands, options, pairs).measureNew()
    for (const each of documents) {
      console.error(`round ${round} of ${rounds}: ${each.name}`)
      const project = new Project(each, commands, options, pairs)
      await project.measureNew()
      await project.measureEdited()
      await project.measureUnchanged()
      // Most services have a document of the middle size.
      if (each !== (documents[1] ?? documents[0])) continue
      await project.measureFirstAnswer()
      await project.measureTypes()
    }
  }
  const [last = small] = documents.toReversed()
  await measureDev(small, ['--sample'], [handlerOfSample, documentOfSample], commands, options, pairs)
  await measureDev(last, [pathOf(last, commands)], [versionIn(last.file)], commands, options, pairs)
  return pairs
}

/**
 * Measures how long `dev` takes from a save to the answer that shows it, in a project of `init`. The process stays the same,
 * so its times are paired with those of openapi-typescript in the other rows of the document.
 */
async function measureDev(
  { name }: RealDocument,
  args: string[],
  edits: Edit[],
  commands: Commands,
  { rounds, env, slices }: CommandOptions,
  pairs: Pairs,
): Promise<void> {
  console.error(`dev: ${name}`)
  const { project } = initialize(args, commands, env)
  const command = [...onBothCores, 'node', commands.own, 'dev']
  const { result: times } = await slices.measure(() => devLatencies(project, command, edits, rounds + 1, env))
  const peers = (pairs.get(`${name}: new`) ?? []).map(({ peer }) => peer)
  for (const [index, edit] of edits.entries())
    pairs.set(
      `${name}: dev, ${edit.file.startsWith('src') ? 'a handler' : 'the document'}`,
      peers.map((peer, round) => ({ own: { wall: (times[index]?.[round] as number) / 1_000 }, peer })),
    )
}

const generate = ['generate', '--skip-unsupported']

/** Returns the path of a document in the directory in which its commands run. */
const pathOf = ({ file }: RealDocument, { directory }: Commands): string =>
  join(directory, 'projects', 'generate', file)

/** A new directory with a document, below that of the installed packages. */
class Project {
  readonly #path: string
  readonly #directory: string
  readonly #document: RealDocument
  readonly #commands: Commands
  readonly #options: CommandOptions
  readonly #pairs: Pairs
  #text: string

  constructor(document: RealDocument, commands: Commands, options: CommandOptions, pairs: Pairs) {
    this.#path = pathOf(document, commands)
    this.#directory = dirname(this.#path)
    this.#document = document
    this.#commands = commands
    this.#options = options
    this.#pairs = pairs
    this.#text = document.text
    rmSync(this.#directory, { recursive: true, force: true })
    mkdirSync(this.#directory, { recursive: true })
    const manifest = { type: 'module', 'fastify-contract': { document: document.file } }
    writeFileSync(join(this.#directory, 'package.json'), JSON.stringify(manifest))
    writeFileSync(this.#path, document.text)
  }

  /** Measures `generate` in a project that has no generated files yet. */
  async measureNew(): Promise<void> {
    const generateNew = () => {
      rmSync(join(this.#directory, 'generated'), { recursive: true, force: true })
      return this.#own(...generate)
    }
    await this.#addPair('new', generateNew)
  }

  /** Measures `generate` after an edit of the document, which is undone before the next sample. */
  async measureEdited(): Promise<void> {
    const { text, edited } = this.#document
    const generateEdited = () => {
      this.#text = this.#text === text ? edited : text
      writeFileSync(this.#path, this.#text)
      return this.#own(...generate)
    }
    await this.#addPair('edited', generateEdited)
  }

  /** Measures `generate` and `generate --check` without an edit. */
  async measureUnchanged(): Promise<void> {
    await this.#addPair('unchanged', () => this.#own(...generate))
    await this.#addPair('--check', () => this.#own(...generate, '--check'))
  }

  async measureFirstAnswer(): Promise<void> {
    const initialize = () => measureInit(this.#path, this.#commands, this.#options.env)
    await this.#addPair('init until the first answer', initialize)
  }

  /** Measures `tsc` in the project that `init` has made last, and in one with the types of openapi-typescript. */
  async measureTypes(): Promise<void> {
    const { directory, peer } = this.#commands
    const { env } = this.#options
    const project = projectOfInit(this.#commands)
    const peerProject = join(directory, 'projects', 'types')
    rmSync(peerProject, { recursive: true, force: true })
    writeTscPeer(project, peerProject)
    measureCommand([peer, this.#path, '--output=api.d.ts'], peerProject, env)
    const tsc = join(directory, 'node_modules', 'typescript', 'bin', 'tsc')
    const check = async (checked: string) => tscFigures(checked, tsc, env)
    await this.#addPair(
      'tsc',
      () => check(project),
      () => check(peerProject),
    )
  }

  async #own(...args: string[]): Promise<Usage> {
    return measureCommand([this.#commands.own, ...args], this.#directory, this.#options.env)
  }

  async #peer(): Promise<Usage> {
    const args = [this.#commands.peer, this.#document.file, '--output=peer.d.ts']
    return measureCommand(args, this.#directory, this.#options.env)
  }

  async #addPair(
    step: string,
    measureOwn: () => Promise<Figures>,
    measurePeer: () => Promise<Figures> = () => this.#peer(),
  ): Promise<void> {
    const { slices } = this.#options
    const pair: Partial<Pair> = {}
    const samples = [
      async () => (pair.own = (await slices.measure(measureOwn)).result),
      async () => (pair.peer = (await slices.measure(measurePeer)).result),
    ]
    for (const sample of shuffled(samples)) await sample()
    const row = `${this.#document.name}: ${step}`
    this.#pairs.set(row, [...(this.#pairs.get(row) ?? []), pair as Pair])
  }
}
