import { compileDocument } from '../../src/compile/compile.ts'
import { exampleCurl } from '../../src/docs/example-calls.ts'
import { bearer, ContractError, createServer } from '../../src/index.ts'
import { runService } from '../../src/service/service.ts'

// Runs a service with nothing but its operations, for the document in the environment variable DOCUMENT.
const compiled = await compileDocument(JSON.parse(process.env.DOCUMENT as string), 'openapi.yaml')
const ids = compiled.routes.operations.map(({ operationId }) => operationId)
const handler = async () => {
  throw new ContractError('notImplemented', 'not written yet')
}
await runService({
  name: 'plain',
  contract: async () => ({ documentText: compiled.files['openapi.json'] as string, routes: compiled.routes }),
  open: async () => ({
    ...(process.env.CURL !== 'no' && { exampleRequest: exampleCurl }),
    createServer: (contract, verifyToken, settings) =>
      createServer<object>({
        ...settings,
        contract,
        handlers: Object.fromEntries(ids.map((id) => [id, handler])) as object,
        verifiers: { token: bearer(verifyToken) },
        errorBody: ({ error, message }) => ({ contentType: 'application/json', body: { error, message } }),
      }),
  }),
})
