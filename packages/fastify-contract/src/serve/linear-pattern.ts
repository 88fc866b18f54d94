import { compilePattern } from './string-keywords.ts'

/*
 * V8 matches a regular expression by backtracking, which takes polynomial or exponential time for some patterns. The
 * Thompson NFA of such a pattern (nondeterministic finite automaton) is simulated in linear time. Sets of its states
 * are cached as states of a DFA (deterministic finite automaton) that is built lazily.
 */

/** A state of an NFA: it consumes a character, asserts something about a position, or is an epsilon state. */
type State = {
  consumes?: (character: string, code: number) => boolean
  asserts?: RegExp
  /** Whether the assertion depends on the characters around the position. */
  dependsOnNeighbors?: boolean
  to: State[]
  id: number
  /** The last step of the simulation that reached it. */
  step: number
}

/** Bounds the slowest patterns, such as `(a|b)*a(a|b){190}`, to about two seconds for a body of 256 KiB. */
const maxStates = 600
const maxCachedSets = 1_000

type Matcher = (text: string) => boolean

/** The matchers by pattern, which validators and serializers share. To make one takes up to a millisecond. */
const matchers = new Map<string, Matcher | undefined>()

/**
 * Returns a function that tells in linear time whether a text matches a pattern. Returns undefined if the pattern is no
 * regular expression, or has a lookaround, a backreference, or too many states.
 */
export function linearPattern(pattern: string): Matcher | undefined {
  if (!matchers.has(pattern)) matchers.set(pattern, newMatcher(pattern))
  return matchers.get(pattern)
}

/** Returns the function of `linearPattern` for a supported pattern. It is made for the first text, not at the start. */
export const lazyMatcher =
  (pattern: string): Matcher =>
  (text) =>
    (linearPattern(pattern) as Matcher)(text)

function newMatcher(pattern: string): Matcher | undefined {
  try {
    return simulation(parsePattern(compilePattern(pattern)))
  } catch {
    return undefined
  }
}

/** A part of a pattern: returns its first state, given the state that follows it. */
type Fragment = (next: State) => State

/** Lookaround assertions, modifiers and backreferences, which an NFA cannot represent. */
const unsupported = /\(\?(?!:|<[^=!])|\\[1-9k]/y

/** Without the flag u, these are several characters. */
const wide = /[\u{10000}-\u{10FFFF}]|\\u(?:\{|[dD][89ABab])/u

const characterOrClass =
  /\[(?:\\.|[^\]\\])*\]|\\(?:[pP]\{[^}]*\}|u\{[\dA-Fa-f]+\}|u[dD][89ABab][\dA-Fa-f]{2}\\u[dD][C-Fc-f][\dA-Fa-f]{2}|u[\dA-Fa-f]{4}|x[\dA-Fa-f]{2}|c.|.)|./suy

const quantifier = /([*+?])\??|\{(\d+)(?:(,)(\d*))?\}\??/y

/** Converts a regular expression to an NFA. Throws for one that is not supported or has too many states. */
function parsePattern({ source, flags }: RegExp) {
  if (!flags.includes('u') && wide.test(source)) throw new SyntaxError('not supported')
  const states: State[] = []
  let at = 0
  const end = newState({ to: [] })
  const isEpsilon = (state: State) => state !== end && state.consumes === undefined && state.asserts === undefined
  /** Returns the states that are reached through epsilon states alone, without these. */
  const epsilonClosure = (from: State[]): State[] => {
    const found = new Set(from)
    for (const state of found) if (isEpsilon(state)) for (const next of state.to) found.add(next)
    return [...found].filter((state) => !isEpsilon(state))
  }
  const start = epsilonClosure([alternatives()(end)])
  for (const state of states.filter((each) => !isEpsilon(each))) state.to = epsilonClosure(state.to)
  return { start, end, readsPairs: flags.includes('u') }

  function newState(parts: Omit<State, 'id' | 'step'>): State {
    if (states.length === maxStates) throw new RangeError('too many states')
    const state = { ...parts, id: states.length, step: 0 }
    states.push(state)
    return state
  }

  function take(token: RegExp): RegExpExecArray | null {
    token.lastIndex = at
    const found = token.exec(source)
    at += found?.[0].length ?? 0
    return found
  }

  function alternatives(): Fragment {
    const fragments = [sequence()]
    while (take(/\|/y)) fragments.push(sequence())
    if (fragments.length === 1) return fragments[0] as Fragment
    return (next) => newState({ to: fragments.map((fragment) => fragment(next)) })
  }

  function sequence(): Fragment {
    const fragments: Fragment[] = []
    while (at < source.length && !/[|)]/.test(source.charAt(at))) fragments.push(repeated(atom()))
    return (next) => fragments.reduceRight((to, fragment) => fragment(to), next)
  }

  function atom(): Fragment {
    if (take(unsupported)) throw new SyntaxError('not supported')
    if (take(/\((?:\?:|\?<[^>]*>)?/y)) {
      const group = alternatives()
      take(/\)/y)
      return group
    }
    const [assertion] = take(/\^|\$|\\b/iy) ?? []
    const test =
      assertion === undefined
        ? { consumes: characterTest(take(characterOrClass)?.[0] as string, flags) }
        : { asserts: new RegExp(assertion, `${flags}y`), dependsOnNeighbors: /b/i.test(assertion) }
    return (next) => newState({ ...test, to: [next] })
  }

  function repeated(fragment: Fragment): Fragment {
    const found = take(quantifier)
    if (found === null) return fragment
    const [, sign, count, comma, limit] = found
    const least = count === undefined ? (sign === '+' ? 1 : 0) : Number(count)
    const most = sign === '?' ? 1 : sign !== undefined || limit === '' ? Infinity : Number(comma ? limit : count)
    return (next) => {
      let to = next
      if (most === Infinity) {
        to = newState({ to: [next] })
        to.to.push(fragment(to))
      } else for (let left = most - least; left > 0; left--) to = newState({ to: [fragment(to), next] })
      // An empty fragment has no states, so `maxStates` would not end the loop.
      for (let left = least, last: State | undefined; left > 0 && to !== last; left--) [last, to] = [to, fragment(to)]
      return to
    }
  }
}

function characterTest(source: string, flags: string): (character: string, code: number) => boolean {
  const expression = new RegExp(`^(?:${source})$`, flags)
  const ofAscii = Array.from({ length: 128 }, (_, code) => expression.test(String.fromCharCode(code)))
  return (character, code) => (code < 128 ? (ofAscii[code] as boolean) : expression.test(character))
}

/** A DFA state: the consuming states that are reached at a position, and the next DFA state by ASCII character. */
type StateSet = { states: State[]; transitions: StateSet[] }

const matched: StateSet = { states: [], transitions: [] }

/** Returns a function that matches texts by simulating an NFA from every position of the text at once. */
function simulation({ start, end, readsPairs }: ReturnType<typeof parsePattern>): Matcher {
  const stateSets = new Map<string, StateSet>()
  let step = 0
  /** Whether the last transition depends on more than the set and the character, so that it must not be cached. */
  let dependsOnPosition = false

  /** Adds the consuming states that are reached from some states. Returns whether the end is reached. */
  function reach(from: State[], text: string, position: number, reached: State[]): boolean {
    for (const state of from) {
      if (state === end) return true
      if (state.step === step) continue
      state.step = step
      if (state.asserts === undefined) reached.push(state)
      else {
        dependsOnPosition ||= state.dependsOnNeighbors === true
        state.asserts.lastIndex = position
        if (state.asserts.test(text) && reach(state.to, text, position, reached)) return true
      }
    }
    return false
  }

  /** Returns the set at a position, after the given set has consumed a character. */
  function consume(from: State[], character: string, code: number, text: string, position: number): StateSet {
    const states: State[] = []
    step++
    // `$` depends on whether the text ends here.
    dependsOnPosition = position === text.length
    for (const state of from)
      if (state.consumes?.(character, code) && reach(state.to, text, position, states)) return matched
    return reach(start, text, position, states) ? matched : { states, transitions: [] }
  }

  function cached(set: StateSet): StateSet {
    if (set === matched) return set
    const key = set.states.map(({ id }) => id).join()
    const known = stateSets.get(key) ?? set
    stateSets.set(key, known)
    return known
  }

  return (text) => {
    let current = consume([], '', 0, text, 0)
    for (let position = 0; current !== matched && position < text.length; ) {
      const code = (readsPairs ? text.codePointAt(position) : text.charCodeAt(position)) as number
      position += code > 0xffff ? 2 : 1
      let next = position < text.length ? current.transitions[code] : undefined
      if (next === undefined) {
        next = consume(current.states, String.fromCodePoint(code), code, text, position)
        if (code < 128 && !dependsOnPosition && stateSets.size < maxCachedSets) {
          next = cached(next)
          current.transitions[code] = next
        }
      }
      current = next
    }
    return current === matched
  }
}
