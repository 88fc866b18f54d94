import type { paths } from '../generated/api.d.ts'
import parameters from '../generated/call-styles.json' with { type: 'json' }
import replies from '../generated/int64-replies.json' with { type: 'json' }
import {
  type ClientOptions,
  type ExactClient,
  exactClient,
} from '../packages/fastify-contract/src/client/exact-client.ts'

export type { ClientOptions }

/** The client of a plant store. */
export type PlantStoreClient = ExactClient<paths>

/** Creates a client of the plant store at `baseUrl`. Every int64 is a bigint, exact in requests and responses. */
export const createClient = (options: ClientOptions): PlantStoreClient =>
  exactClient<paths>({ ...replies, parameters }, options)
