import { EVENT_ID, type Event, parseEvents } from 'js-yaml'

/**
 * Returns the events of a text; undefined for one that the parser rejects. Accepts a bracket that closes a flow collection
 * and is indented like the member that holds it, as JSON in YAML often is (against YAML 1.2.2 section 7.4). Throws a
 * RangeError if the text overflows the stack.
 */
export const eventsIn = (text: string): Event[] | undefined => parsedEvents(text) ?? eventsWithLowBrackets(text)

function parsedEvents(text: string): Event[] | undefined {
  try {
    // The stack of JavaScript limits the depth.
    return parseEvents(text, { maxDepth: Number.MAX_SAFE_INTEGER })
  } catch (error) {
    if (error instanceof RangeError) throw error
    return undefined
  }
}

/** Parses a text in which spaces replace the line breaks before brackets, so that each offset stays the same. */
function eventsWithLowBrackets(text: string): Event[] | undefined {
  const breaks = breaksBeforeBrackets(text)
  const list = parsedWithSpaces(text, breaks)
  if (list === undefined) return undefined
  const outside = breaksOutside(breaks, list)
  if (outside.length === breaks.length) return list
  // A line of a scalar may begin with a bracket, too.
  const again = parsedWithSpaces(text, outside)
  return again !== undefined && breaksOutside(outside, again).length === outside.length ? again : undefined
}

/** Returns the offsets of the line breaks before closing brackets, except where a comment may end or a line is empty. */
function breaksBeforeBrackets(text: string): number[] {
  const breaks: number[] = []
  for (const { index } of text.matchAll(/\n(?= *[\]}])/g)) {
    const line = text.slice(text.lastIndexOf('\n', index - 1) + 1, index)
    if (/\S\r?$/.test(line) && !/(?:^|\s)#/.test(line)) breaks.push(index)
  }
  return breaks
}

function parsedWithSpaces(text: string, breaks: number[]): Event[] | undefined {
  if (breaks.length === 0) return undefined
  let [joined, begin] = ['', 0]
  for (const at of breaks) {
    const end = text[at - 1] === '\r' ? at - 1 : at
    joined += `${text.slice(begin, end)}${' '.repeat(at + 1 - end)}`
    begin = at + 1
  }
  return parsedEvents(joined + text.slice(begin))
}

/** Returns the line breaks that are in no scalar. */
function breaksOutside(breaks: number[], list: Event[]): number[] {
  const inside = new Set<number>()
  let index = 0
  for (const event of list) {
    if (event.type !== EVENT_ID.SCALAR) continue
    while ((breaks[index] as number) < event.valueStart) index++
    for (; (breaks[index] as number) < event.valueEnd; index++) inside.add(breaks[index] as number)
  }
  return breaks.filter((at) => !inside.has(at))
}
