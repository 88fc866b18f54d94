import { commandLine } from './command-line.ts'

commandLine(`npm run dev

Runs the service and restarts it after every change below openapi/ and src/: it generates, checks types, bundles, and
starts the new service on free ports with an empty store as a trial. If that is ready, it replaces the running service;
meanwhile requests wait and none is rejected. After an error the last working service keeps running.

It reads the same environment variables as npm start. Without ACCESS_TOKENS it creates a token, which stays valid after
restarts. It listens on PORT and MANAGEMENT_PORT itself and forwards connections, so the log has its address.
`)

await import('../dev/reloader.ts')
