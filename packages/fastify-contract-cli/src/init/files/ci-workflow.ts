import { installation, setupOf } from '../package-manager.ts'
import type { Project } from '../project.ts'
import { productionNode } from '../runtime.ts'

/** The actions that the workflow uses: a commit each, because a tag can be moved. */
const actions = {
  checkout: 'actions/checkout@d23441a48e516b6c34aea4fa41551a30e30af803 # v6.1.0',
  setupNode: 'actions/setup-node@249970729cb0ef3589644e2896645e5dc5ba9c38 # v6.5.0',
}

/** Returns the workflow of a new project that checks each commit on GitHub. It has no text of the document. */
export function ciWorkflow({ manager, leftOut }: Project): string {
  const run = { npm: 'npm run', pnpm: 'pnpm run' }[manager]
  const exec = { npm: 'npx', pnpm: 'pnpm exec' }[manager]
  const commands = [
    ...setupOf(manager),
    installation[manager].all,
    `${exec} fastify-contract generate --check`,
    `${run} typecheck`,
    `${manager} test`,
    ...(leftOut.has('Dockerfile') ? [] : ['docker build .']),
  ]
  return `name: CI
on:
  push:
    branches: [main, master]
  pull_request:
permissions: {}
concurrency:
  group: ci-\${{ github.ref }}
  # A run of a branch that is pushed to is finished, so that each of its commits has a result.
  cancel-in-progress: \${{ github.event_name == 'pull_request' }}
jobs:
  checks:
    runs-on: ubuntu-24.04
    timeout-minutes: 15
    permissions:
      contents: read
    steps:
      - uses: ${actions.checkout}
        with:
          persist-credentials: false
          # The commit, and the base of a pull request: GitHub tests the merge of both.
          fetch-depth: 2
      - uses: ${actions.setupNode}
        with:
          node-version: ${productionNode}
${commands.map((command) => `      - run: ${command}`).join('\n')}
      # After the first release of the contract: ${exec} fastify-contract changes --release
      - if: hashFiles('openapi/released/**/*.json') != ''
        run: ${exec} fastify-contract changes --format github
      # The summary of the run lists the changes of a pull request. To reject breaking ones, add: --fail-on breaking
      - if: github.event_name == 'pull_request'
        run: |
          base="$RUNNER_TEMP/base.json"
          git show HEAD^1:generated/openapi.json > "$base" || exit 0
          ${exec} fastify-contract changes --since "$base" --format markdown >> "$GITHUB_STEP_SUMMARY"
`
}
