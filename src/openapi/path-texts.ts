import type { Hook } from '../http/request-guards.ts'
import type { ParameterText } from './routes.ts'

/**
 * Returns the hook that replaces parameters of a path by their texts as they were sent: the router has decoded them, and
 * a delimiter that is data could no longer be told from one that is not. Undefined where no parameter is split.
 */
export function pathTexts(parameters: ParameterText[]): Hook | undefined {
  const split = parameters.flatMap(({ key, segment }) => (segment === undefined ? [] : [{ key, ...segment }]))
  if (split.length === 0) return undefined
  return (request, _reply, done) => {
    const [path = ''] = (request.raw.url as string).split('?', 1)
    const segments = path.split('/')
    const params = request.params as Record<string, string>
    for (const { key, fromEnd, prefix } of split) {
      // The router counts the same segments: it decodes no slash before it has found them.
      params[key] = withoutPrefix(segments.at(-fromEnd) as string, prefix)
    }
    done()
  }
}

/** Removes characters of a path, any of which may be percent-encoded. */
function withoutPrefix(segment: string, prefix: string): string {
  let at = 0
  for (const character of prefix) at += segment[at] === '%' ? 3 * Buffer.byteLength(character) : character.length
  return segment.slice(at)
}
