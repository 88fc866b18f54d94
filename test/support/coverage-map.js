import { readdirSync } from 'node:fs'

/** The directories whose code runs in the service. Code that runs only in development is not measured. */
const rooms = ['auth', 'client', 'http', 'json', 'limits', 'mcp', 'serve', 'service', 'webhooks']
const directories = ['src', ...rooms.map((room) => `packages/fastify-contract/src/${room}`)]

const sources = directories.flatMap((directory) =>
  readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => `${directory}/${file}`),
)

/** Maps every test file to the code of the service, so that tap measures the coverage of that code only. */
export default () => sources
