import { destinationProblems, markdownProblems } from './markdown-problems.js'

/** The end of each message, which names the file of the rule. */
const here = ' (scripts/lint/lint-rules.js)'

/** The rules of redocly.yaml that its declarative assertions cannot express. */
export default () => ({
  id: 'house',
  rules: {
    oas3: {
      'integer-has-a-format': () => ({
        Schema({ type, format }, { report }) {
          if ([type].flat().includes('integer') && !['int32', 'int64'].includes(format)) {
            report({ message: `an integer needs a format; use int32 or int64${here}` })
          }
        },
      }),
      'parameter-has-an-example': () => ({ Parameter: hasExample, Header: hasExample }),
      'collection-is-plural': () => ({ PathItem: isBelowPlural }),
      'text-is-harmless': () => ({ any: hasHarmlessTexts }),
    },
  },
})

/** Plurals that do not end in s. */
const irregular = ['children', 'data', 'feet', 'geese', 'media', 'men', 'mice', 'people', 'teeth', 'women']

/**
 * Reports collections whose names are not plural. Unlike Redocly's own rule, allows a singular name for the last
 * segment below an item, such as its photo.
 */
function isBelowPlural(_item, { key, report, location }) {
  const segments = String(key).split('/').slice(1)
  for (const [index, segment] of segments.entries()) {
    const isCollection = index === 0 || segments[index + 1]?.startsWith('{')
    if (!isCollection || segment.startsWith('{') || /s$/.test(segment) || irregular.includes(segment)) continue
    report({
      message: `the name of the collection ${segment} is not plural; rename it${here}`,
      location: location.key(),
    })
  }
}

function hasExample({ example, examples }, { report }) {
  if (example === undefined && examples === undefined)
    report({ message: `a parameter or header needs an example; add one${here}` })
}

/** Members whose text is data, which the docs page shows as code. */
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

/** Members without a type in Redocly, which does not visit their contents. */
const untyped = /^(x-|scopes$)/

/** Returns a text with its path, or all texts in a member without a type. */
function textsOf(path, value) {
  if (typeof value === 'string') return [[path, value]]
  if (!untyped.test(path[0])) return []
  return Object.entries(Object(value)).flatMap(([key, member]) => textsOf([...path, key], member))
}

const isUrl = /^(termsOfService|href|.*url)$/i

/** Returns the problems of a URL; none if it begins with a variable, as that of a server may. */
const urlProblems = (url) => (url.startsWith('{') ? [] : destinationProblems(url))
