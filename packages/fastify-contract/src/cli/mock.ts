import { visible } from '../compile/text/source-text.ts'
import { createMock } from '../mock/mock-server.ts'
import { listen } from '../service/service.ts'
import { commandLine } from './command-line.ts'
import { errorModule, loadErrorModule } from './project-files.ts'

/** Runs `fastify-contract mock`. */
export async function run(args: string[]): Promise<void> {
  const { options } = commandLine(
    `fastify-contract mock [OPTIONS]

Responds like the service, with the examples of the document and without a store, so that a client can be written before
the handlers. Requests are authenticated (with any credentials), parsed, validated and rejected as by the service.
Listens on 127.0.0.1, on the port PORT (default: 3000).

--generated DIRECTORY  the files of fastify-contract generate (default: generated)
--errors FILE          the module whose errorBody creates the bodies of errors (default: ${errorModule})
--realm NAME           the realm in the challenges of 401 (default: the title of the document)

A request selects its response with the header Prefer (RFC 7240): code=409 for the response with that status,
example=NAME for one of several examples. The header Preference-Applied names the preferences that were applied.
`,
    { generated: 'generated', errors: errorModule, realm: undefined },
    [],
    args,
  )
  try {
    const { errorBody } = await loadErrorModule(options.errors)
    const { title, version, app } = await createMock(options.generated, errorBody, { realm: options.realm })
    const address = { host: '127.0.0.1', port: Number(process.env.PORT || 3000) }
    const url = await listen((address) => app.listen(address), app.server, address)
    console.log(visible(`mock of ${title} ${version} on ${url}; it accepts any token`))
  } catch (error) {
    throw new Error(`mock: ${(error as Error).message}`)
  }
}
