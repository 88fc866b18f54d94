import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { type FastifyInstance, fastify } from 'fastify'
import { type Contract, listVerifier, newToken } from 'fastify-contract'
import { generatedContract } from '../mock/mock-server.ts'
import type { ProjectDocument } from './project-documents.ts'
import { registerTsx } from './project-files.ts'

/** The modules that `init` writes, in projects of each kind: a plugin of an existing application, and an application. */
const defaultModules = [
  ...['src', '.'].flatMap((sources) =>
    ['ts', 'mts', 'js', 'mjs'].map((extension) => join(sources, 'contract', `plugin.${extension}`)),
  ),
  join('src', 'app.ts'),
  join('src', 'app.js'),
]

/** The directory of the generated files. */
const generated = 'generated'

/** The limits of an application under test: a busy machine must not shed load, as in the tests that `init` writes. */
const limits = { eventLoopDelay: 60_000 }

/** An application in this process, with the contract from which each document of the project was generated, if any. */
export type TestedApplication = { app: FastifyInstance; contracts: NamedContract[] }

/** A generated contract, and the document of the project that it has. */
type NamedContract = { name: string | undefined; prefix: string; contract: Contract }

/** The exports of a module that makes an application. */
type ApplicationModule = { createApp?: unknown; default?: unknown }

/**
 * Loads the application of a project from a module, which may be TypeScript: from its function `createApp`, which gets a
 * verifier of tokens and the options `limits` and `contract`, or `contracts` by their prefixes if there are several, or from its default export, which is a Fastify instance, or
 * a plugin that an instance registers.
 *
 * @param given The path of the module; default: that of a project of `init`.
 * @throws {Error} If there is no such module, or if it exports nothing of this.
 */
export async function loadApplication(
  given: string | undefined,
  documents: ProjectDocument[],
): Promise<TestedApplication> {
  const path = given ?? defaultModules.find((one) => existsSync(one))
  if (path === undefined)
    throw new Error('there is no src/app.ts; name the module of the application with --app, or a server with --url')
  if (!existsSync(path)) throw new Error(`--app: ${path} does not exist; name the module of the application`)
  await registerTsx()
  const contracts: NamedContract[] = []
  for (const one of documents) {
    const directory = one.in(generated)
    if (!existsSync(join(directory, 'contract.mjs'))) continue
    contracts.push({ name: one.name, prefix: one.prefix, contract: await generatedContract(directory) })
  }
  const module = (await import(pathToFileURL(resolve(path)).href)) as ApplicationModule
  const app = await applicationOf(module, contracts, path)
  return { app, contracts }
}

async function applicationOf(
  { createApp, default: own }: ApplicationModule,
  contracts: NamedContract[],
  path: string,
): Promise<FastifyInstance> {
  if (typeof createApp === 'function') {
    const operations = contracts.flatMap(({ contract }) => contract.routes.operations)
    const scopes = operations.flatMap(({ security }) => security.flatMap(Object.values).flat())
    const app: unknown = await createApp(listVerifier([newToken()], scopes), { ...contractOptions(contracts), limits })
    if (isInstance(app)) return app
    throw new Error(`${path}: createApp returns no Fastify instance; return the one that it makes`)
  }
  if (isInstance(own)) return own
  if (typeof own !== 'function')
    throw new Error(`${path} has neither createApp nor a plugin as its default export; export one of them`)
  const app = fastify()
  await app.register(own as Parameters<typeof app.register>[0])
  return app
}

/** Returns the option with the only contract, or with all of them by their prefixes. */
function contractOptions(contracts: NamedContract[]) {
  const [first] = contracts
  if (first === undefined || first.name === undefined) return { contract: first?.contract }
  return { contracts: Object.fromEntries(contracts.map(({ prefix, contract }) => [prefix, contract])) }
}

const isInstance = (value: unknown): value is FastifyInstance =>
  typeof (value as FastifyInstance | undefined)?.inject === 'function'
