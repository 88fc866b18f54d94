import { readFileSync } from 'node:fs'
import { lenientDocument } from '../passes/lenient/lenient-document.ts'
import { parseSource } from '../read/read-source.ts'
import { SourceError } from '../read/source-error.ts'
import type { Sources } from '../read/source-files.ts'
import type { LintFinding } from '../redocly/redocly.ts'
import { clientRule } from '../reports/client-features.ts'
import { clientAdvice } from '../rules/client-advice.ts'
import { RejectedDocument } from '../rules/problems.ts'
import { bundledContract, withinDepth } from './checked-document.ts'
import { servedDocument } from './served-document.ts'

/**
 * Returns advice on what some clients cannot send, with the severities of a configuration. A document that cannot be
 * served has none: `generate` reports its problems.
 */
export async function clientFindings(
  path: string,
  sources: Sources,
  configuration: string | undefined,
): Promise<LintFinding[]> {
  const severityOf = severities(configuration)
  try {
    const { bundled, given } = await bundledContract(path, { sources, rules: configuration })
    const { published } = withinDepth(bundled.document, path, function check() {
      const { mended } = lenientDocument(bundled.document, given.textAt, given.unresolved)
      return servedDocument(mended, path, { ...given, skipUnsupported: true })
    })
    return clientAdvice(published).flatMap(({ name, pointer, text }): LintFinding[] => {
      const ruleId = clientRule(name)
      const severity = severityOf(ruleId)
      if (severity === 'off') return []
      const [, ref = path, line = '1', col = '1'] = /^(.*):(\d+):(\d+)$/.exec(bundled.placeOf(pointer)) ?? []
      const start = { line: Number(line), col: Number(col) }
      return [{ ruleId, severity, message: text, location: [{ source: { ref }, pointer, start }] }]
    })
  } catch (error) {
    if (error instanceof RejectedDocument || error instanceof SourceError) return []
    throw error
  }
}

/** Returns a function that returns the severity of a rule in a configuration of Redocly. */
function severities(configuration: string | undefined): (ruleId: string) => 'off' | 'warn' | 'error' {
  const value = configuration && parseSource(configuration, readFileSync(configuration, 'utf8'), configuration).value
  const rules = Object(Object(value).rules)
  return function severityOf(ruleId) {
    const given = Object.hasOwn(rules, ruleId) ? rules[ruleId] : undefined
    const severity = Object(given).severity ?? given
    return severity === 'off' || severity === 'error' ? severity : 'warn'
  }
}
