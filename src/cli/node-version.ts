/**
 * Returns why a version of Node is too old, or undefined when it is new enough. The caller must import modules that
 * need a newer Node dynamically, since a missing export fails before any statement runs.
 *
 * @param engines The required versions as in `engines.node` of a package.json: `>=` and the least version.
 */
export function nodeProblem(version: string, engines: string): string | undefined {
  const least = engines.slice('>='.length)
  const isNewEnough = new Intl.Collator('en', { numeric: true }).compare(version, least) >= 0
  return isNewEnough ? undefined : `Node ${version} is too old; use Node ${least} or newer`
}
