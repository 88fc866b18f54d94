import { markdownCode } from '../../text/foreign-text.ts'
import type { Project } from '../project.ts'

const errorRule =
  '- `src/error-body.ts` writes the body of each thrown error. If an error schema changes, change it, too.\n'

/** Returns the AGENTS.md of a new project, which tells coding agents how to change the service. */
export function agentsPage({ document, errorBody, manager }: Project): string {
  const contract = markdownCode(document)
  const exec = { npm: 'npx', pnpm: 'pnpm exec' }[manager]
  return `# How to change this service

The OpenAPI document ${contract} is the contract. It alone defines operations, parameters, schemas and
responses. The code follows it.

## The loop

1. Edit ${contract}.
2. Run \`${manager} run generate\`. It writes \`generated/\`, prints a handler for each new operation, and rejects what cannot be
   served: correct the document as it says.
3. Paste new handlers into \`src/handlers.ts\`, and remove those of removed operations.
4. Run \`${manager} run typecheck\`. Each error is a place in \`src/\` that does not match the contract. Correct the code; use no
   \`any\`, cast or \`@ts-ignore\` to hide it.
5. Run \`${manager} test\`. It sends requests that the contract implies, and prints for each failure what was expected, and a
   curl command. Correct the code or the contract; turn a check off only with a true reason.

To change only what an operation does, start at step 4.

## Rules

- Never edit \`generated/\`. Commit it together with the contract.
- A handler gets validated values, so it does not validate them again. An integer of format \`int64\` is a \`bigint\`.
- A handler returns \`{ status, body }\` of a response that the contract lists. It throws any other error:
  \`throw new ContractError('unavailable', 'the database is down', { 'retry-after': '5' })\`, from \`fastify-contract\`.
- To respond with another status or property, first add it to the contract.
${errorBody === undefined ? '' : errorRule}- Secrets come from environment variables, never from code.

## Files and commands

| file | what it is |
|---|---|
| ${contract} | the contract |
| \`src/handlers.ts\` | a function for each operationId |
| \`src/app.ts\` | handlers, verifiers of tokens, plugins and hooks |
| \`src/server.ts\` | the process; opens what handlers need, such as a database |
| \`test/\` | tests, run by \`node:test\` |
| \`generated/requests.http\` | a request of each operation |

| command | what it does |
|---|---|
| \`${manager} run dev\` | runs the service on port 3000, and restarts it after each change |
| \`${exec} fastify-contract generate --check\` | fails if \`generated/\` is out of date |
| \`${exec} fastify-contract test --operation ID\` | tests an operation; \`--list-checks\` says what is checked |
| \`${exec} fastify-contract changes\` | names breaking changes since the last released contract |
| \`${manager} run lint\` | advises on the style of the contract |

The guides are in \`node_modules/fastify-contract/docs/\`: \`handlers.md\` and \`configuration.md\` first.
`
}
