import { type ClientOptions, type ExactClient, exactClient } from 'fastify-contract/client'
import type { paths } from '../generated/api.d.ts'
import table from '../generated/client.json' with { type: 'json' }

export type { ClientOptions }

/** The client of a plant store. */
export type PlantStoreClient = ExactClient<paths>

/** Creates a client of the plant store at `baseUrl`. Every int64 is a bigint, exact in requests and responses. */
export const createClient = (options: ClientOptions): PlantStoreClient => exactClient<paths>(table, options)
