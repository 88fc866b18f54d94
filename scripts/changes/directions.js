/** The parts of a document by which a schema is sent or returned; in a webhook or callback it is the other way round. */
const directionOf = { RequestBody: 'request', ParameterList: 'request', Responses: 'response' }
const opposite = { request: 'response', response: 'request' }

/** A diff rule of Redocly that reports of each change whether requests, responses, both or nothing can hold it. */
export default () => ({
  id: 'changes',
  diff: {
    oas3: {
      directions: () => ({
        any({ node, property }, { report }) {
          const found = new Set()
          // A schema that is readOnly from now on was not before: what holds it tells.
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

/** A node that a $ref leads to is within what holds the first such $ref. */
function isWithin(node, type) {
  const seen = new Set()
  for (let each = node; each && !seen.has(each); each = each.parent ?? each.referencedFrom) {
    if (each.type.name === type) return true
    seen.add(each)
  }
  return false
}
