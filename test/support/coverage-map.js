import { readdirSync } from 'node:fs'

/** The folders whose code runs in the service. Code that runs only in development is not measured. */
const rooms = ['auth', 'client', 'http', 'json', 'limits', 'mcp', 'serve', 'service', 'webhooks']
const folders = ['src', ...rooms.map((room) => `packages/fastify-contract/src/${room}`)]

const sources = folders.flatMap((folder) =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => `${folder}/${file}`),
)

/** Maps every test file to the code of the service, so that tap measures the coverage of that code only. */
export default () => sources
