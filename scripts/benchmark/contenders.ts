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
  /** Number of worker processes; default: 1. */
  workers?: number
  /** Whether the store is on a disk, so that each request must create a new plant. */
  durable?: boolean
  /** Whether the database runs on the load's core. */
  onLoadCore?: boolean
}

/** A directory for SQLite files, and a function that creates an empty PostgreSQL database and returns its URL. */
export type Stores = { sqlite: string; postgres: () => Promise<string> }

/** Returns all contenders, by their names for `--only`. */
export function contendersWith({ sqlite, postgres }: Stores): Record<string, Contender> {
  const peer = (name: string, file: string): Contender => ({ name, args: [join(peers, file)] })
  const stores = {
    memory: { label: 'memory', store: async () => 'memory:', durable: false },
    sqlite: { label: 'SQLite', store: async () => `sqlite:${join(sqlite, randomUUID())}.db`, durable: true },
    postgres: { label: 'PostgreSQL', store: postgres, durable: true, onLoadCore: true },
  }
  const services = Object.entries(stores).flatMap(([key, { label, ...store }]) => {
    const service = { args: ['dist/server.js'], ...store }
    return [
      [key, { ...service, name: `plant-store, ${label}`, accessLog: false }],
      [`${key}-log`, { ...service, name: `plant-store, ${label}, access log`, accessLog: true }],
    ] as const
  })
  return {
    'node-http': peer('node:http by hand', 'node-http.js'),
    fastify: peer('Fastify by hand', 'fastify.js'),
    glue: peer('fastify-openapi-glue', 'fastify-openapi-glue.js'),
    nest: peer('NestJS on Fastify', 'dist/nest.js'),
    hono: peer('Hono with zod-openapi', 'hono.js'),
    'openapi-backend': peer('openapi-backend', 'openapi-backend.js'),
    express: peer('express-openapi-validator', 'express-openapi-validator.js'),
    ...Object.fromEntries(services),
  }
}

/** Selects contenders by comma separated names; without names, all. Throws on an unknown name. */
export function only(contenders: Record<string, Contender>, names: string | undefined): Record<string, Contender> {
  if (names === undefined) return contenders
  const chosen = names.split(',').map((name) => {
    const contender = contenders[name]
    if (contender === undefined) throw new Error(`--only ${name}: allowed are ${Object.keys(contenders).join(', ')}`)
    return [name, contender] as const
  })
  return Object.fromEntries(chosen)
}
