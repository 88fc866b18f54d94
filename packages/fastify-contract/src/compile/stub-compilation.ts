import { fileURLToPath } from 'node:url'
import { virtualProgram } from './virtual-program.ts'

const handlerTypes = fileURLToPath(new URL('../serve/handler-types.ts', import.meta.url))
const folder = fileURLToPath(new URL('../serve/', import.meta.url))

/** Returns the indexes of the handlers that do not compile with the types of their document. */
export function uncompilable(handlers: string[], types: string): Set<number> {
  const head = [
    "import type { Handlers } from './handler-types.ts'",
    "import type { operations } from './new-operations.d.ts'",
    'export const handlers: Partial<Handlers<operations>> = {',
  ].join('\n')
  const texts = handlers.map((handler) => `\n${handler}`)
  const module = `${folder}new-handlers.ts`
  const program = virtualProgram(
    [module, handlerTypes],
    { [`${folder}new-operations.d.ts`]: types, [module]: `${head}${texts.join('')}\n}\n` },
    { types: [] },
  )
  const file = program.getSourceFile(module)
  const ends = texts.map((_, index) => head.length + texts.slice(0, index + 1).join('').length)
  const findings = [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)]
  return new Set(findings.map(({ start = 0 }) => ends.findIndex((end) => start < end)))
}
