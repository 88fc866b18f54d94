import type { Compiled } from '../../emit/compile.ts'
import type { TestRunner } from '../existing-application.ts'
import { contractTestCall } from './service-test.ts'

/** The maximum time of the test in milliseconds: more than the 60 s after which a contract test ends itself. */
const timeLimit = '70_000'

/** What each program needs for a test: an import, and what precedes and follows its function. */
const runners: Record<TestRunner, { imported: string; options: string; end: string }> = {
  'node:test': { imported: "import { test } from 'node:test'", options: '', end: '})' },
  tap: { imported: "import { test } from 'tap'", options: `{ timeout: ${timeLimit} }, `, end: '})' },
  vitest: { imported: "import { test } from 'vitest'", options: '', end: `}, ${timeLimit})` },
}

/** Returns the test of a plugin of an existing application, which sends the requests that the document implies. */
export function pluginTest({ document }: Compiled, hasErrorBody: boolean, runner: TestRunner): string {
  const { imported, options, end } = runners[runner]
  return [
    "import { fastify } from 'fastify'",
    "import { contractTest } from 'fastify-contract-cli/contract-test'",
    imported,
    "import { contract } from '../generated/contract.mjs'",
    "import contractRoutes from './plugin.ts'",
    '',
    `test('the operations do what their document says', ${options}async () => {`,
    '  // The whole application can stand here, too; prefix is then that of the plugin.',
    '  const app = fastify()',
    '  await app.register(contractRoutes)',
    '  try {',
    ...contractTestCall(document, hasErrorBody).map((line) => `  ${line}`),
    '  } finally {',
    '    await app.close()',
    '  }',
    end,
    '',
  ].join('\n')
}
