import { resourcesOf } from '../../contract-test/sequences/resources.ts'
import { type Document, endpoints } from '../../document/openapi-document.ts'
import { securityScheme, tokenVerifierOf } from '../../document/security-schemes.ts'
import type { Compiled } from '../../emit/compile.ts'
import { keyOf, stringLiteral } from '../../text/source-text.ts'

/** The path of the test of a new project. */
export const serviceTestPath = 'test/contract.test.ts'

/** Returns the test of a new project, which sends the requests that the document implies. */
export function serviceTest({ document }: Compiled, hasErrorBody: boolean): string {
  const skip = untestable(document)
  return [
    "import { test } from 'node:test'",
    "import { contractTest } from 'fastify-contract-cli/contract-test'",
    "import { contract } from '../generated/contract.mjs'",
    "import { createApp } from '../src/app.ts'",
    '',
    `test('the service does what its document says'${skip === undefined ? '' : `, { skip: ${stringLiteral(skip)} }`}, async (t) => {`,
    '  // The test has credentials of its own. A busy machine that runs tests must not shed load.',
    '  const app = createApp(() => undefined, { contract, limits: { eventLoopDelay: 60_000 } })',
    '  t.after(() => app.close())',
    ...contractTestCall(document, hasErrorBody, 'const { operations } = '),
    '  for (const { operationId, untested } of operations)',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the template is one of the written file
    '    if (untested !== undefined) t.diagnostic(`${operationId} is not tested: ${untested}`)',
    '})',
    '',
  ].join('\n')
}

/** Returns the statement that tests an application `app`. */
export function contractTestCall(document: Document, hasErrorBody: boolean, result = ''): string[] {
  const off = checksOff(document, hasErrorBody)
  if (off.length === 0) return [`  ${result}await contractTest(app, { document: contract })`]
  return [
    `  ${result}await contractTest(app, {`,
    '    document: contract,',
    '    // The checks that are off, each with the reason. Remove a line once its reason is gone.',
    '    off: {',
    "      '*': {",
    ...off.map(([check, reason]) => `        ${keyOf(check)}: ${stringLiteral(reason)},`),
    '      },',
    '    },',
    '  })',
  ]
}

/** Returns the checks that the handlers and the errors of a new project cannot pass, each with the reason. */
function checksOff(document: Document, hasErrorBody: boolean): [check: string, reason: string][] {
  const read = resourcesOf(endpoints(document)).filter((resource) => resource.read !== undefined)
  const stored = 'the handlers return examples, and store nothing'
  return [
    ...(read.length === 0 ? [] : [['written-is-read', stored] as [string, string]]),
    ...(read.some(({ remove }) => remove !== undefined) ? [['deleted-is-gone', stored] as [string, string]] : []),
    ...(hasErrorBody ? [] : [['documented-media-type', 'errors are plain text'] as [string, string]]),
  ]
}

/** Returns why nothing can be tested: no operation, or only ones that need a verifier which `init` cannot write. */
export function untestable(document: Document): string | undefined {
  const operations = endpoints(document)
  if (operations.length === 0) return 'the document has no operations'
  const isWritten = (scheme: string) => tokenVerifierOf(securityScheme(document, scheme)) !== undefined
  const isOpen = operations.some(
    ({ security }) => security.length === 0 || security.some((one) => Object.keys(one).every(isWritten)),
  )
  return isOpen ? undefined : 'no operation has a verifier that is written'
}
