import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { directory as peers } from './peers.ts'

export type Contender = {
  name: string
  /** Command line arguments of Node. */
  args: string[]
  /** Returns a new STORE_URL for each start of the service; undefined for a peer. */
  store?: () => Promise<string>
  /** Whether the service writes an access log. */
  accessLog?: boolean
  /** Whether the store is on a disk, so that each request must create a new plant. */
  durable?: boolean
  /** Whether the database runs on the load's core. */
  onLoadCore?: boolean
}

/** A directory for SQLite files, and a function that creates an empty PostgreSQL database and returns its URL. */
export type Stores = { sqlite: string; postgres: () => Promise<string> }

/**
 * Returns all contenders by their names for `--only`.
 *
 * @param before The folder of another build of this service, whose contenders have the prefix `before-`.
 */
export function contendersWith({ sqlite, postgres }: Stores, before?: string): Record<string, Contender> {
  const peer = (name: string, file: string): Contender => ({ name, args: [join(peers, file)] })
  const stores = {
    memory: { label: 'memory', store: async () => 'memory:', durable: false },
    sqlite: { label: 'SQLite', store: async () => `sqlite:${join(sqlite, randomUUID())}.db`, durable: true },
    postgres: { label: 'PostgreSQL', store: postgres, durable: true, onLoadCore: true },
  }
  const services = (prefix: string, name: string, folder: string): Record<string, Contender> =>
    Object.fromEntries(
      Object.entries(stores).flatMap(([key, { label, ...store }]) => {
        const service = { args: [join(folder, 'dist', 'server.js')], ...store }
        return [
          [`${prefix}${key}`, { ...service, name: `${name}, ${label}`, accessLog: false }],
          [`${prefix}${key}-log`, { ...service, name: `${name}, ${label}, access log`, accessLog: true }],
        ]
      }),
    )
  return {
    'node-http': peer('node:http by hand', 'node-http.js'),
    fastify: peer('Fastify by hand', 'fastify.js'),
    'bearer-auth': peer('Fastify with bearer-auth', 'fastify-bearer-auth.js'),
    glue: peer('fastify-openapi-glue', 'fastify-openapi-glue.js'),
    nest: peer('NestJS on Fastify', 'dist/nest.js'),
    hono: peer('Hono with zod-openapi', 'hono.js'),
    'openapi-backend': peer('openapi-backend', 'openapi-backend.js'),
    express: peer('express-openapi-validator', 'express-openapi-validator.js'),
    ...(before !== undefined && services('before-', 'before', before)),
    ...services('', 'plant-store', ''),
  }
}

/** Returns the contenders with the comma-separated names, or all without names. Throws on an unknown name. */
export function selectContenders(
  contenders: Record<string, Contender>,
  names: string | undefined,
): Record<string, Contender> {
  if (names === undefined) return contenders
  const chosen = names.split(',').map((name) => {
    const contender = contenders[name]
    if (contender === undefined)
      throw new Error(`--only ${name}: unknown contender; use ${Object.keys(contenders).join(', ')}`)
    return [name, contender] as const
  })
  return Object.fromEntries(chosen)
}

/** Returns the named contender, which must be this service. Throws if it is a peer, or if there are several names. */
export function selectService(contenders: Record<string, Contender>, name: string): Contender {
  const [contender, ...others] = Object.values(selectContenders(contenders, name))
  if (contender?.store === undefined || others.length > 0)
    throw new Error(`--only ${name}: must be one contender that is this service, such as sqlite-log`)
  return contender
}
