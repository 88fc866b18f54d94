/** The direction of schemas in some OpenAPI objects; in webhooks and callbacks it is reversed. */
const directionOf = { RequestBody: 'request', ParameterList: 'request', Responses: 'response' }
const opposite = { request: 'response', response: 'request' }

/** A Redocly diff rule that reports for each change whether requests, responses, both or neither can contain it. */
export default () => ({
  id: 'changes',
  diff: {
    oas3: {
      directions: () => ({
        any({ node, property }, { report }) {
          const found = new Set()
          // Before this change the schema was not readOnly or writeOnly, so its holders determine the direction.
          const isOwn = property === 'readOnly' || property === 'writeOnly'
          for (const each of isOwn ? holdersOf(node) : [node]) collect(each, found, new Set())
          report({ message: [...found].sort().join(' ') })
        },
      }),
    },
  },
})

const holdersOf = ({ parent, referencedBy }) => [parent, ...referencedBy].filter(Boolean)

function collect(pair, found, seen) {
  if (seen.has(pair)) return
  seen.add(pair)
  const node = pair.revision ?? pair.base
  const type = node.type.name
  const { readOnly, writeOnly } = (node.resolved ?? node).value ?? {}
  const direction = directionOf[type]
  if (type === 'Schema' && (readOnly === true || writeOnly === true)) {
    found.add(readOnly === true ? 'response' : 'request')
  } else if (direction !== undefined && !isWithin(node, 'Components')) {
    found.add(isWithin(node, 'CallbacksMap') || isWithin(node, 'WebhooksMap') ? opposite[direction] : direction)
  } else {
    for (const holder of holdersOf(pair)) collect(holder, found, seen)
  }
}

/**
 * Returns whether a node is inside an object of a type. The target of a $ref is inside the object with the first $ref.
 */
function isWithin(node, type) {
  const seen = new Set()
  for (let each = node; each && !seen.has(each); each = each.parent ?? each.referencedFrom) {
    if (each.type.name === type) return true
    seen.add(each)
  }
  return false
}
