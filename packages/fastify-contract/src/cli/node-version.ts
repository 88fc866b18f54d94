import packageFile from '../../../../package.json' with { type: 'json' }

/**
 * Returns why a version of Node is too old, or undefined when it is new enough. The caller must import modules that
 * need a newer Node dynamically, since a missing export fails before any statement runs.
 */
export function nodeProblem(version: string): string | undefined {
  const least = packageFile.engines.node.slice('>='.length)
  const isNewEnough = new Intl.Collator('en', { numeric: true }).compare(version, least) >= 0
  return isNewEnough ? undefined : `Node ${version} is too old; use Node ${least} or newer`
}
