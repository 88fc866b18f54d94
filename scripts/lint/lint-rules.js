import { destinationProblems, markdownProblems } from './markdown-problems.js'

/** The rules of redocly.yaml that its declarative assertions cannot say. */
export default () => ({
  id: 'house',
  rules: {
    oas3: {
      'integer-has-a-format': () => ({
        Schema({ type, format }, { report }) {
          if ([type].flat().includes('integer') && !['int32', 'int64'].includes(format)) {
            report({ message: 'an integer says how wide it is: format int32 or int64' })
          }
        },
      }),
      'parameter-has-an-example': () => ({ Parameter: hasExample, Header: hasExample }),
      'text-is-harmless': () => ({ any: hasHarmlessTexts }),
    },
  },
})

function hasExample({ example, examples }, { report }) {
  if (example === undefined && examples === undefined) report({ message: 'a parameter or header has an example' })
}

/** Members whose text is data, which a page shows as code. */
const data = ['example', 'examples', 'default', 'const', 'enum', 'value', 'pattern']

function hasHarmlessTexts(node, { report, location, type }) {
  for (const [key, value] of Object.entries(Object(node))) {
    if (data.includes(key) && Object.hasOwn(type.properties, key)) continue
    for (const [path, text] of textsOf([key], value)) {
      const problems = isUrl.test(path.at(-1)) ? urlProblems(text) : markdownProblems(text)
      for (const message of new Set(problems)) report({ message, location: location.child(path) })
    }
  }
}

/** Members without a type: what they hold is not visited. */
const untyped = /^(x-|scopes$)/

/** Returns a text with its path, or those in a member without a type. */
function textsOf(path, value) {
  if (typeof value === 'string') return [[path, value]]
  if (!untyped.test(path[0])) return []
  return Object.entries(Object(value)).flatMap(([key, member]) => textsOf([...path, key], member))
}

const isUrl = /^(termsOfService|href|.*url)$/i

/** The scheme of a server may be a variable. */
const urlProblems = (url) => (url.startsWith('{') ? [] : destinationProblems(url))
