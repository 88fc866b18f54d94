import { readdirSync } from 'node:fs'

/** The directories whose code runs in the service. Code that runs only in development is not measured. */
const directories = ['src', 'packages/fastify-contract/src']

const sources = directories.flatMap((directory) =>
  readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts'))
    .map((file) => `${directory}/${file}`),
)

/** Maps every test file to the code of the service, so that tap measures the coverage of that code only. */
export default () => sources
