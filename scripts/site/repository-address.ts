import { spawnSync } from 'node:child_process'

/**
 * Returns the address of the repository's web page without credentials: that of the workflow which runs this process,
 * else that of the remote `origin`. Returns undefined if there is neither, or if `origin` is a directory.
 */
export function repositoryAddress(environment = process.env, origin = originRemote()): string | undefined {
  const { GITHUB_SERVER_URL, GITHUB_REPOSITORY } = environment
  if (GITHUB_SERVER_URL && GITHUB_REPOSITORY) return `${GITHUB_SERVER_URL}/${GITHUB_REPOSITORY}`
  const [, scheme, host, port = '', path] =
    /^(\w+):\/\/(?:[^@/]*@)?([^:/]+)(:\d+)?\/(.+?)(?:\.git)?\/?$/.exec(origin) ??
    // The short form of SSH.
    /^()(?:[^@/\s]+@)?([^:/\s]+\.[^:/\s]+)():(.+?)(?:\.git)?\/?$/.exec(origin) ??
    []
  if (host === undefined || scheme === 'file') return undefined
  return scheme === 'http' || scheme === 'https' ? `${scheme}://${host}${port}/${path}` : `https://${host}/${path}`
}

/** Returns the URL of the remote `origin`; an empty string if there is none. */
const originRemote = (): string => spawnSync('git', ['remote', 'get-url', 'origin'], { encoding: 'utf8' }).stdout.trim()
