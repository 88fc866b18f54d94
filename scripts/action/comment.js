import { readFile } from 'node:fs/promises'
import { posix } from 'node:path'

/*
 * The second step of action.yaml: writes the changes as a comment of the pull request, or into the comment of an earlier
 * run, which begins with the same marker. Without changes it only updates one.
 */

const { DOCUMENT, MARKDOWN, GITHUB_API_URL, GITHUB_EVENT_PATH, GITHUB_REPOSITORY, GITHUB_TOKEN } = process.env

/** The pages of a hundred comments that are searched, and the time of each request in milliseconds. */
const maxPages = 20
const timeout = 30_000

const { pull_request: pull } = JSON.parse(await readFile(GITHUB_EVENT_PATH, 'utf8'))
const marker = `<!-- fastify-contract changes ${encodeURIComponent(posix.normalize(DOCUMENT))} -->`
if (pull === undefined) console.log('The event has no pull request, so there is no comment.')
else await comment(Number(pull.number)).catch(warn)

async function comment(number) {
  const markdown = await readFile(MARKDOWN, 'utf8')
  const body = `${marker}\n${markdown}`
  const known = await ownComment(number)
  if (known !== undefined) await call('PATCH', `issues/comments/${known.id}`, { body })
  else if (!/^### (?:No|The base has no) /.test(markdown)) await call('POST', `issues/${number}/comments`, { body })
}

/**
 * Returns the comment of an earlier run. Those of people and of other bots do not count, whatever they contain: a bot may
 * repeat the words of a person.
 */
async function ownComment(number) {
  for (let page = 1; page <= maxPages; page++) {
    const comments = await call('GET', `issues/${number}/comments?per_page=100&page=${page}`)
    const own = comments.find(
      ({ body, user }) => user?.type === 'Bot' && user.login === 'github-actions[bot]' && body?.startsWith(marker),
    )
    if (own !== undefined || comments.length < 100) return own
  }
  return undefined
}

async function call(method, path, body) {
  const response = await fetch(`${GITHUB_API_URL}/repos/${GITHUB_REPOSITORY}/${path}`, {
    method,
    headers: {
      accept: 'application/vnd.github+json',
      authorization: `Bearer ${GITHUB_TOKEN}`,
      'content-type': 'application/json',
      'x-github-api-version': '2022-11-28',
    },
    signal: AbortSignal.timeout(timeout),
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  if (response.ok) return await response.json()
  // The token of a pull request from a fork may only read.
  const reason = [403, 404].includes(response.status)
    ? 'it needs the permission "pull-requests: write", which a pull request from a fork does not have'
    : 'run the job again'
  throw new Error(`${method} of the comment got ${response.status}; ${reason}`)
}

/** A comment that cannot be written fails no job. */
function warn({ message }) {
  console.log(`::warning::there is no comment, but a summary of the job: ${message}`)
}
