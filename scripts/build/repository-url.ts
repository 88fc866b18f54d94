import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

/**
 * Returns the address of this repository in a browser, for the metadata of a package: that of the workflow that runs, or
 * else of the remote `origin`; undefined if there is none. A registry compares it with the provenance of a package.
 */
export async function repositoryUrl(
  { GITHUB_SERVER_URL, GITHUB_REPOSITORY }: NodeJS.ProcessEnv = process.env,
  directory = '.',
): Promise<string | undefined> {
  if (GITHUB_SERVER_URL !== undefined && GITHUB_REPOSITORY !== undefined)
    return `${GITHUB_SERVER_URL}/${GITHUB_REPOSITORY}`
  const args = ['-C', directory, 'remote', 'get-url', 'origin']
  const { stdout } = await promisify(execFile)('git', args).catch(() => ({ stdout: '' }))
  return browserUrl(stdout.trim())
}

/**
 * Returns the address in a browser of a remote of git, as https, ssh or scp name it, without its credentials; undefined
 * for others, such as a directory.
 */
export function browserUrl(remote: string): string | undefined {
  const [, host, path] = /^(?:[\w.-]+@)?([\w-]+(?:\.[\w-]+)+):(?!\/)(.*)$/.exec(remote) ?? []
  const text = host === undefined ? remote : `ssh://${host}/${path}`
  if (!/^(https?|ssh):\/\//.test(text)) return undefined
  const url = new URL(text)
  const { origin } = url.protocol === 'ssh:' ? new URL(`https://${url.hostname}`) : url
  return `${origin}${url.pathname.replace(/(\.git)?\/?$/, '')}`
}
