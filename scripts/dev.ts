import { commandLine } from './system/command-line.ts'

commandLine(`npm run dev

Runs the service and follows every change below openapi/ and src/: it generates, checks types, bundles, and starts
the new service on free ports, with an empty store. Once that has answered, the service is replaced; meanwhile requests
wait, and none is refused. After an error the last good service goes on.

It is configured as npm start is, by variables of the environment. Without ACCESS_TOKENS it makes a token for all its
services. PORT and MANAGEMENT_PORT are its own: it forwards their connections, so the log has its address.
`)

await import('./dev/reloader.ts')
