import { type Application, maskPassword, readConfig } from 'fastify-contract/config'
import { isStoreUrl, storeUrls } from './store/open.ts'

/** What the plant store adds to the configuration of a service: its store, and the prefix and the command of its tokens. */
export const application = {
  variables: { STORE_URL: { default: 'sqlite:data/plants.db', expected: storeUrls, isValid: isStoreUrl } },
  tokenPrefix: 'plants_',
  // A checkout, where npm start runs, has no command plant-store.
  get tokenCommand() {
    const command = process.env.npm_lifecycle_event === 'start' ? 'npm run token --' : 'plant-store token'
    return `${command} create --name NAME`
  },
} satisfies Application<'STORE_URL'>

/** Returns a function that rethrows an error of a store, with the STORE_URL, whose password is masked. */
export const rethrowWithUrl =
  (url: string) =>
  (error: Error): never => {
    throw new Error(`STORE_URL is "${maskPassword(url)}": ${error.message}`, { cause: error })
  }

/** Returns the store's URL and the size limit of a body in bytes, for commands that use the store without a service. */
export function storeConfig({ STORE_URL, BODY_LIMIT }: NodeJS.ProcessEnv): { storeUrl: string; limit: number } {
  const { own, limits } = readConfig({ STORE_URL, BODY_LIMIT }, application)
  return { storeUrl: own.STORE_URL, limit: limits.body }
}
