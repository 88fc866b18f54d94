import { readFileSync, writeFileSync } from 'node:fs'
import { pageToken } from './migration-page.ts'

/** The document of an application to which `init --into` adds operations. */
export const addedDocument = `openapi: 3.1.0
info: { title: Pets, version: 1.0.0 }
servers: [{ url: /v1 }]
security: [{ bearer: [] }]
paths:
  /pets/{id}:
    get:
      operationId: getPet
      parameters: [{ name: id, in: path, required: true, schema: { type: integer, format: int64 } }]
      responses:
        '200':
          description: A pet.
          content:
            application/json:
              schema: { type: object, required: [id], properties: { id: { type: integer, format: int64 } } }
              example: { id: 7 }
        default:
          description: An error.
          content:
            application/json:
              schema: { type: object, required: [message], properties: { message: { type: string } } }
components: { securitySchemes: { bearer: { type: http, scheme: bearer } } }
`

/** The application, as a module of ECMAScript and in CommonJS. */
export const applications = {
  esm: `import Fastify from 'fastify'

const server = Fastify()
server.get('/health', async () => ({ ok: true }))
await server.listen({ port: Number(process.env.PORT) })
`,
  commonJs: `const Fastify = require('fastify')

const app = Fastify()
app.get('/health', async () => ({ ok: true }))
app.listen({ port: Number(process.env.PORT) })
`,
}

/** Returns the lines that `init` prints below a heading. */
export function linesBelow(printed: string, heading: string): string[] {
  const [, lines = ''] = new RegExp(`^${heading}:\n((?: {2}.*\n?)+)`, 'm').exec(printed) ?? []
  return lines
    .trimEnd()
    .split('\n')
    .map((line) => line.slice(2))
}

/** Adds lines to the module of the application, as its owner does: imports first, and the rest before its route. */
export function paste(path: string, lines: string[]): void {
  const imports = lines.filter((line) => line.startsWith('import '))
  const others = lines.filter((line) => !line.startsWith('import '))
  const text = readFileSync(path, 'utf8').replace(/^(?=\w+\.get\()/m, `${others.join('\n')}\n`)
  writeFileSync(path, [...imports, text].join('\n'))
}

/** Returns the responses of the operation at a URL: with a valid token, and without one. */
export async function operationResponses(url: string): Promise<[status: number, body: string][]> {
  const answers: [number, string][] = []
  for (const headers of [{ authorization: `Bearer ${pageToken}` }, {}]) {
    const response = await fetch(`${url}/v1/pets/7`, { headers })
    answers.push([response.status, await response.text()])
  }
  return answers
}
