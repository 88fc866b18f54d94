import packageFile from '../../package.json' with { type: 'json' }

/**
 * Returns what is wrong with a version of Node, undefined for one that will do. Whatever calls it must load the modules
 * that need a newer Node later, since a missing export fails before any statement runs.
 */
export function nodeProblem(version: string): string | undefined {
  const least = packageFile.engines.node.slice('>='.length)
  const isNewEnough = new Intl.Collator('en', { numeric: true }).compare(version, least) >= 0
  return isNewEnough ? undefined : `Node ${least} or newer is needed, this is ${version}`
}
