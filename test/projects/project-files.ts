/** The document of each project. */
export const documentText = `openapi: 3.1.0
info: { title: Pets, version: 1.0.0 }
security: []
paths:
  /pets/{id}:
    parameters: [{ name: id, in: path, required: true, schema: { type: integer, format: int64 }, example: 7 }]
    get:
      operationId: getPet
      responses:
        '200':
          description: A pet.
          content:
            application/json: { schema: { $ref: '#/components/schemas/Pet' }, example: { id: 9007199254740993, name: Tom } }
        default: { $ref: '#/components/responses/Error' }
    delete:
      operationId: deletePet
      responses:
        '204': { description: Deleted. }
        '409': { description: The pet is sold. }
        default: { $ref: '#/components/responses/Error' }
components:
  schemas:
    Pet: { type: object, required: [id, name], properties: { id: { type: integer, format: int64 }, name: { type: string } } }
    Error: { type: object, required: [code, message], properties: { code: { type: integer }, message: { type: string } } }
  responses:
    Error: { description: An error., content: { application/json: { schema: { $ref: '#/components/schemas/Error' } } } }
`

/** The files of a project by hand, without its manifest and its generated files. */
export const handwrittenFiles = {
  'openapi.yaml': documentText,
  'tsconfig.json': JSON.stringify({
    compilerOptions: {
      module: 'NodeNext',
      target: 'ES2023',
      types: ['node'],
      strict: true,
      resolveJsonModule: true,
      allowImportingTsExtensions: true,
      skipLibCheck: true,
      noEmit: true,
    },
  }),
  'src/error-body.ts': `import type { ErrorBody } from 'fastify-contract'
import type { operations } from '../generated/api.d.ts'
import type { Handlers } from '../generated/handler-types.d.ts'

export const errorBody: ErrorBody<operations> = ({ statusCode, message }) => ({
  contentType: 'application/json',
  body: { code: statusCode, message },
})
`,
  'src/handlers.ts': `import type { } from 'fastify-contract'
import type { operations } from '../generated/api.d.ts'
import type { Handlers } from '../generated/handler-types.d.ts'

export const handlers: Handlers = {
  async getPet() {
    return { status: 200, body: { id: 9007199254740993n, name: 'Tom' } }
  },
  async deletePet() {
    return { status: 204, body: undefined }
  },
}
`,
  'src/server.ts': `import { createServer } from 'fastify-contract'
import { pino } from 'pino'
import type { operations } from '../generated/api.d.ts'
import type { Handlers } from '../generated/handler-types.d.ts'
import { contract } from '../generated/contract.mjs'
import { errorBody } from './error-body.ts'
import { handlers } from './handlers.ts'

const app = createServer<Handlers>({ contract, handlers, verifiers: {}, errorBody, log: pino() })
await app.listen({ host: '127.0.0.1', port: Number(process.env.PORT) })
process.once('SIGINT', () => app.close())
`,
}

/** The scripts of a project by hand. */
export const scripts = {
  start: 'tsx src/server.ts',
  dev: 'fastify-contract dev',
  generate: 'fastify-contract generate',
}
