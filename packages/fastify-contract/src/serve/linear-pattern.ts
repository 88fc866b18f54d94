import { compilePattern } from './string-keywords.ts'

/*
 * V8 matches a regular expression by backtracking, which takes polynomial or exponential time for some patterns. These
 * are matched by their automaton, which follows all ways to match at once and so visits each character once.
 */

/** A state of an automaton: it reads a character, asserts something of a place in the text, or only leads on. */
type State = {
  reads?: (character: string, code: number) => boolean
  asserts?: (text: string, at: number) => boolean
  to: State[]
  number: number
  /** The last step in which it was reached. */
  step: number
}

/** Returns the first state of a part of a pattern that leads to the given state. */
type Part = (next: State) => State

/** The states that are reached at one place of a text, and what each ASCII character leads to from there. */
type Reached = { states: State[]; next: Reached[] }

const matched: Reached = { states: [], next: [] }

/** So many sets of states are kept, so that most characters need one look-up. */
const maxInterned = 1_000

/** With so many, the slowest patterns, such as `(a|b)*a(a|b){190}`, take about two seconds for a body of 256 KiB. */
const maxStates = 600

/** What the automaton does not know: a lookaround, a modifier, and a backreference. */
const unsupported = /\(\?(?!:|<[^=!])|\\[1-9k]/y

/** Without the flag u, these are several characters. */
const wide = /[\u{10000}-\u{10FFFF}]|\\u(?:\{|[dD][89ABab])/u

const character =
  /\[(?:\\.|[^\]\\])*\]|\\(?:[pP]\{[^}]*\}|u\{[\dA-Fa-f]+\}|u[dD][89ABab][\dA-Fa-f]{2}\\u[dD][C-Fc-f][\dA-Fa-f]{2}|u[\dA-Fa-f]{4}|x[\dA-Fa-f]{2}|c.|.)|./suy

const quantifier = /([*+?])\??|\{(\d+)(?:(,)(\d*))?\}\??/y

/**
 * Returns a function that tells in linear time whether a text matches a pattern. Returns undefined if the pattern is no
 * regular expression, or has a lookaround, a backreference, or too many states.
 */
export function linearPattern(pattern: string): ((text: string) => boolean) | undefined {
  try {
    return matcher(compilePattern(pattern))
  } catch {
    return undefined
  }
}

function matcher({ source, flags }: RegExp): (text: string) => boolean {
  const readsPairs = flags.includes('u')
  if (!readsPairs && wide.test(source)) throw new SyntaxError('not supported')
  const states: State[] = []
  let at = 0
  const state = (made: Omit<State, 'number' | 'step'>): State => {
    if (states.length === maxStates) throw new RangeError('too many states')
    const one = { ...made, number: states.length, step: 0 }
    states.push(one)
    return one
  }
  const take = (token: RegExp): RegExpExecArray | null => {
    token.lastIndex = at
    const found = token.exec(source)
    at += found?.[0].length ?? 0
    return found
  }
  const end = state({ to: [] })
  const first = [alternatives()(end)]
  const isOnWay = (one: State) => one !== end && one.reads === undefined && one.asserts === undefined
  /** Returns the states that some states lead to, without those that only lead on. */
  const passed = (from: State[]): State[] => {
    const found = new Set(from)
    for (const one of found) if (isOnWay(one)) for (const next of one.to) found.add(next)
    return [...found].filter((one) => !isOnWay(one))
  }
  const start = passed(first)
  for (const one of states.filter((each) => !isOnWay(each))) one.to = passed(one.to)
  let step = 0
  let reached: State[] = []
  /** Whether the last step depended on more than the character that was read. */
  let isOfPlace = false

  /** Adds the reading states that some states lead to at a place. Returns whether the end is among them. */
  function reach(from: State[], text: string, place: number): boolean {
    for (const one of from) {
      if (one === end) return true
      if (one.step === step) continue
      one.step = step
      if (one.reads !== undefined) reached.push(one)
      else if (one.asserts?.(text, place) && reach(one.to, text, place)) return true
    }
    return false
  }

  /** Returns what is reached at a place by reading a character; each place may be the start of a match. */
  function read({ states: last }: Reached, character: string, code: number, text: string, place: number): Reached {
    reached = []
    step++
    isOfPlace = place === text.length
    for (const one of last) if (one.reads?.(character, code) && reach(one.to, text, place)) return matched
    return reach(start, text, place) ? matched : { states: reached, next: [] }
  }

  const interned = new Map<string, Reached>()
  const intern = (one: Reached): Reached => {
    if (one === matched) return one
    const key = one.states.map(({ number }) => number).join()
    const known = interned.get(key) ?? one
    interned.set(key, known)
    return known
  }

  return (text) => {
    let current = read({ states: [], next: [] }, '', 0, text, 0)
    for (let place = 0; current !== matched && place < text.length; ) {
      const code = (readsPairs ? text.codePointAt(place) : text.charCodeAt(place)) as number
      place += code > 0xffff ? 2 : 1
      const known = place < text.length ? current.next[code] : undefined
      if (known !== undefined) {
        current = known
        continue
      }
      const found = read(current, String.fromCodePoint(code), code, text, place)
      const isKept = code < 128 && !isOfPlace && interned.size < maxInterned
      const next = isKept ? intern(found) : found
      if (isKept) current.next[code] = next
      current = next
    }
    return current === matched
  }

  function alternatives(): Part {
    const parts = [sequence()]
    while (take(/\|/y)) parts.push(sequence())
    return parts.length === 1 ? (parts[0] as Part) : (next) => state({ to: parts.map((part) => part(next)) })
  }

  function sequence(): Part {
    const parts: Part[] = []
    while (at < source.length && !/[|)]/.test(source.charAt(at))) parts.push(repeated(one()))
    return (next) => parts.reduceRight((to, part) => part(to), next)
  }

  function one(): Part {
    if (take(unsupported)) throw new SyntaxError('not supported')
    if (take(/\((?:\?:|\?<[^>]*>)?/y)) {
      const inner = alternatives()
      take(/\)/y)
      return inner
    }
    const [assertion] = take(/\^|\$|\\b/iy) ?? []
    if (assertion !== undefined) {
      const expression = new RegExp(assertion, `${flags}y`)
      const isOfNeighbors = /b/i.test(assertion)
      const asserts = (text: string, place: number) => {
        isOfPlace ||= isOfNeighbors
        expression.lastIndex = place
        return expression.test(text)
      }
      return (next) => state({ asserts, to: [next] })
    }
    const reads = characterTest(take(character)?.[0] as string)
    return (next) => state({ reads, to: [next] })
  }

  function characterTest(source: string): (character: string, code: number) => boolean {
    const expression = new RegExp(`^(?:${source})$`, flags)
    const ofAscii = Array.from({ length: 128 }, (_, code) => expression.test(String.fromCharCode(code)))
    return (character, code) => (code < 128 ? (ofAscii[code] as boolean) : expression.test(character))
  }

  function repeated(part: Part): Part {
    const found = take(quantifier)
    if (found === null) return part
    const [, sign, count, comma, limit] = found
    const least = count === undefined ? (sign === '+' ? 1 : 0) : Number(count)
    const most = sign === '?' ? 1 : sign !== undefined || limit === '' ? Infinity : Number(comma ? limit : count)
    return (next) => {
      let to = next
      if (most === Infinity) {
        to = state({ to: [next] })
        to.to.push(part(to))
      } else for (let left = most - least; left > 0; left--) to = state({ to: [part(to), next] })
      for (let left = least; left > 0; left--) to = part(to)
      return to
    }
  }
}
