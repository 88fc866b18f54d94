import { destinationProblems, markdownProblems } from './markdown-problems.js'

/** Ends each message: whoever reads it finds the rule. */
const here = ' (scripts/lint/lint-rules.js)'

/** The rules of redocly.yaml that its declarative assertions cannot say. */
export default () => ({
  id: 'house',
  rules: {
    oas3: {
      'integer-has-a-format': () => ({
        Schema({ type, format }, { report }) {
          if ([type].flat().includes('integer') && !['int32', 'int64'].includes(format)) {
            report({ message: `an integer says how wide it is: format int32 or int64${here}` })
          }
        },
      }),
      'parameter-has-an-example': () => ({ Parameter: hasExample, Header: hasExample }),
      'collection-is-plural': () => ({ PathItem: isBelowPlural }),
      'text-is-harmless': () => ({ any: hasHarmlessTexts }),
    },
  },
})

/** Plurals without the s of the others. */
const irregular = ['children', 'data', 'feet', 'geese', 'media', 'men', 'mice', 'people', 'teeth', 'women']

/** What the last segment names below an item may be one, such as its photo; Redocly's own rule has no such exception. */
function isBelowPlural(_item, { key, report, location }) {
  const segments = String(key).split('/').slice(1)
  for (const [index, segment] of segments.entries()) {
    const isCollection = index === 0 || segments[index + 1]?.startsWith('{')
    if (!isCollection || segment.startsWith('{') || /s$/.test(segment) || irregular.includes(segment)) continue
    report({ message: `a collection has a plural name, which ${segment} is not${here}`, location: location.key() })
  }
}

function hasExample({ example, examples }, { report }) {
  if (example === undefined && examples === undefined)
    report({ message: `a parameter or header has an example${here}` })
}

/** Members whose text is data, which a page shows as code. */
const data = ['example', 'examples', 'default', 'const', 'enum', 'value', 'pattern']

function hasHarmlessTexts(node, { report, location, type }) {
  for (const [key, value] of Object.entries(Object(node))) {
    if (data.includes(key) && Object.hasOwn(type.properties, key)) continue
    for (const [path, text] of textsOf([key], value)) {
      const problems = isUrl.test(path.at(-1)) ? urlProblems(text) : markdownProblems(text)
      for (const problem of new Set(problems)) report({ message: problem + here, location: location.child(path) })
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
