import { bearer, ContractError, createServer } from '../../src/index.ts'
import { runService } from '../../src/service/service.ts'
import { compileRoutes } from '../support/serve-document.ts'

// Runs a service with nothing but its operations, for the document in the environment variable DOCUMENT.
const documentText = process.env.DOCUMENT as string
const document = JSON.parse(documentText)
const credentials = document.security[0]?.token === undefined ? '' : " \\\n  -H 'Authorization: Bearer ~access-token~'"
const routes = {
  ...compileRoutes(document),
  ...(process.env.CURL !== 'no' && { example: `curl 'http://service.invalid/a'${credentials}` }),
}
const ids = routes.operations.map(({ operationId }) => operationId)
const handler = async () => {
  throw new ContractError('notImplemented', 'not written yet')
}
await runService({
  name: 'plain',
  contract: { documentText, routes },
  ...(process.env.ENVIRONMENT_FILE !== undefined && { environmentFile: process.env.ENVIRONMENT_FILE }),
  open: async () => ({
    createServer: (contract, verifyToken, settings) => {
      const app = createServer<object>({
        ...settings,
        contract,
        handlers: Object.fromEntries(ids.map((id) => [id, handler])) as object,
        verifiers: { token: bearer(verifyToken) },
        errorBody: ({ error, message }) => ({ contentType: 'application/json', body: { error, message } }),
      })
      const { HOOK = '' } = process.env
      if (HOOK !== '')
        app.addHook(HOOK as 'onClose', async () => {
          throw new Error(`${HOOK} failed`)
        })
      return app
    },
    ...(process.env.HOOK !== undefined && {
      close: async () => {
        process.stdout.write('closed\n')
      },
    }),
  }),
})
