import { compilePattern, type PatternAlternative, type PatternElement, syntaxOf } from './string-keywords.ts'

/*
 * V8 matches a regular expression by backtracking, which takes polynomial or exponential time for some patterns. The
 * Thompson NFA of such a pattern (nondeterministic finite automaton) is simulated in linear time. Sets of its states
 * are cached as states of a DFA (deterministic finite automaton) that is built lazily.
 *
 * Each lookaround has an NFA of its own. A scan of the text tells at which positions the lookaround holds, before the
 * surrounding NFA reads the text. A lookahead reads the text backward, so that one scan finds where its matches begin.
 * A lookahead after `^` matters at the start only, so it reads the text forward until its match is decided.
 */

/** A state of an NFA: it consumes a character, requires facts about a position, or is an epsilon state. */
type State = {
  consumes?: (character: string, code: number) => boolean
  /** The bit of a fact. */
  requires?: number
  isEnd?: boolean
  to: State[]
  id: number
  /** The last step of the simulation that reached it. */
  step: number
}

/**
 * For each lookaround, 1 at the positions of a text where its inner pattern matches, and 0 at the others. Inner lookarounds
 * come first. A lookahead after `^` has the first position only.
 */
type Tables = Uint8Array[]

type Test = (text: string, position: number, tables: Tables) => boolean

/** An assertion other than `^` and `$`: the bit of its fact, and its test. Some matter at the first position only. */
type Assertion = { fact: number; holds: Test; isFirstOnly: boolean }

/** Bound the slowest patterns, such as `(a|b)*a[ab]{590}c`, to about two seconds for a body of 256 KiB. */
const maxStates = 600
const maxEdges = 2_000
const maxLookarounds = 10
const maxCachedSets = 1_000
const maxCachedTransitions = 50_000

type Matcher = (text: string) => boolean

/** The matchers by pattern, which validators and serializers share. To make one takes up to 10 ms. */
const matchers = new Map<string, Matcher | undefined>()

/**
 * Returns a function that tells in linear time whether a text matches a pattern. Returns undefined if the pattern is no
 * regular expression, has a backreference, or exceeds a bound.
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
    const { scan, lookarounds } = automataOf(compilePattern(pattern))
    return function matches(text) {
      const tables: Tables = []
      for (const lookaround of lookarounds) {
        tables.push(lookaround(text, tables))
      }
      return scan(text, tables)
    }
  } catch {
    return undefined
  }
}

/** A part of a pattern: returns its first state, given the state that follows it in the direction of reading. */
type Fragment = (next: State) => State

/** Without the flag u, these are several characters. */
const wide = /[\u{10000}-\u{10FFFF}]|\\u(?:\{|[dD][89ABab])/u

/** What belongs to one NFA: its assertions by their source. */
type Scope = { isBackward: boolean; assertions: Map<string, Assertion> }

/** A lookahead before `^` at the start, which means the same after it. */
const leadingLookahead = /^(\(\?[=!][^()\\]*\))\^/

/**
 * Converts a regular expression to an NFA, and one for each lookaround, the inner ones first. Throws for an expression
 * that is not supported or has too many states.
 */
function automataOf({ source: given, flags }: RegExp): { scan: Scan; lookarounds: LookaroundScan[] } {
  const source = given.replace(leadingLookahead, '^$1')
  const readsPairs = flags.includes('u')
  if (!readsPairs && wide.test(source)) throw new SyntaxError('not supported')
  const states: State[] = []
  const lookarounds: LookaroundScan[] = []
  let scope: Scope
  const scan = scanOf(syntaxOf(new RegExp(source, flags)).alternatives, {})
  let edges = 0
  const remaining = states.filter((each) => !isEpsilon(each))
  if (remaining.length > maxStates) throw new RangeError('too many states')
  for (const state of remaining) {
    state.to = epsilonClosure(state.to)
    edges += state.to.length
    if (edges > maxEdges) throw new RangeError('too many edges')
  }
  return { scan, lookarounds }

  /** Converts alternatives to an NFA of their own. */
  function scanOf(given: PatternAlternative[], { isBackward = false, isAnchored = false }): Scan {
    const outer = scope
    const inner: Scope = { isBackward, assertions: new Map() }
    scope = inner
    const start = epsilonClosure([alternatives(given)(newState({ isEnd: true, to: [] }))])
    scope = outer
    return simulation(start, [...inner.assertions.values()], { isBackward, isAnchored, readsPairs })
  }

  function newState(parts: Omit<State, 'id' | 'step'>): State {
    // About half are epsilon states.
    if (states.length === 2 * maxStates) throw new RangeError('too many states')
    const state = { ...parts, id: states.length, step: 0 }
    states.push(state)
    return state
  }

  function alternatives(given: PatternAlternative[]): Fragment {
    const fragments = given.map(sequence)
    if (fragments.length === 1) return fragments[0] as Fragment
    return (next) => newState({ to: fragments.map((fragment) => fragment(next)) })
  }

  function sequence({ elements }: PatternAlternative): Fragment {
    const fragments: Fragment[] = []
    let isAfterStart = false
    for (const element of elements) {
      fragments.push(fragmentOf(element, isAfterStart))
      isAfterStart = isStart(element) || (isAfterStart && isLookaround(element))
    }
    if (!scope.isBackward) fragments.reverse()
    return (next) => fragments.reduce((to, fragment) => fragment(to), next)
  }

  function fragmentOf(element: PatternElement, isAfterStart: boolean): Fragment {
    if (element.type === 'Quantifier') return repeated(fragmentOf(element.element, isAfterStart), element)
    if (element.type === 'CapturingGroup') return alternatives(element.alternatives)
    if (element.type === 'Group' && element.modifiers === null) return alternatives(element.alternatives)
    if (isLookaround(element)) return lookaround(element, isAfterStart)
    const { raw } = element
    if (element.type === 'Assertion') {
      if (element.kind === 'word') return asserted(raw, () => boundary(new RegExp(raw, `${flags}y`)))
      return consuming({ requires: element.kind === 'start' ? atStart : atEnd })
    }
    if (/^Character/.test(element.type)) return consuming({ consumes: characterTest(raw, flags) })
    // An NFA has neither backreferences nor modifiers.
    throw new SyntaxError('not supported')
  }

  /** Returns a part with one state. */
  function consuming(parts: Omit<State, 'id' | 'step' | 'to'>): Fragment {
    return (next) => newState({ ...parts, to: [next] })
  }

  function lookaround({ kind, negate, raw, alternatives }: Lookaround, isAfterStart: boolean): Fragment {
    const isAhead = kind === 'lookahead'
    const isAnchored = isAhead && isAfterStart
    const scan = scanOf(alternatives, { isBackward: isAhead && !isAnchored, isAnchored })
    if (lookarounds.length === maxLookarounds) throw new RangeError('too many lookarounds')
    const expected = negate ? 0 : 1
    const newTest = (): Test => {
      const index = lookarounds.push(isAnchored ? atFirst(scan) : atEach(scan)) - 1
      return (_text, position, tables) => tables[index]?.[position] === expected
    }
    return asserted(raw, newTest, isAnchored)
  }

  function asserted(source: string, newTest: () => Test, isFirstOnly = false): Fragment {
    const { assertions } = scope
    const key = `${isFirstOnly} ${source}`
    const fact = firstFact << assertions.size
    const known = assertions.get(key) ?? { fact, holds: newTest(), isFirstOnly }
    assertions.set(key, known)
    return consuming({ requires: known.fact })
  }

  function repeated(fragment: Fragment, { min, max }: { min: number; max: number }): Fragment {
    return function repeat(next) {
      let to = next
      if (max === Infinity) {
        to = newState({ to: [next] })
        to.to.push(fragment(to))
      } else for (let left = max - min; left > 0; left--) to = newState({ to: [fragment(to), next] })
      // An empty fragment has no states, so `maxStates` would not end the loop.
      for (let left = min, last: State | undefined; left > 0 && to !== last; left--) [last, to] = [to, fragment(to)]
      return to
    }
  }
}

type Lookaround = Extract<PatternElement, { kind: 'lookahead' | 'lookbehind' }>

const isLookaround = (element: PatternElement): element is Lookaround =>
  element.type === 'Assertion' && (element.kind === 'lookahead' || element.kind === 'lookbehind')

const isStart = (element: PatternElement): boolean => element.type === 'Assertion' && element.kind === 'start'

/** Returns the table of a lookaround. */
type LookaroundScan = (text: string, tables: Tables) => Uint8Array

const atFirst =
  (scan: Scan): LookaroundScan =>
  (...given) =>
    Uint8Array.of(scan(...given) ? 1 : 0)

const atEach =
  (scan: Scan): LookaroundScan =>
  (text, tables) => {
    const table = new Uint8Array(text.length + 1)
    scan(text, tables, table)
    return table
  }

const isEpsilon = ({ consumes, requires, isEnd }: State): boolean =>
  consumes === undefined && requires === undefined && isEnd === undefined

/** Returns the states that are reached through epsilon states alone, without these. */
function epsilonClosure(from: State[]): State[] {
  const found = new Set(from)
  for (const state of found) if (isEpsilon(state)) for (const next of state.to) found.add(next)
  return [...found].filter((state) => !isEpsilon(state))
}

/** Returns the test of a sticky expression, `\b` or `\B`. */
const boundary =
  (expression: RegExp): Test =>
  (text, position) => {
    expression.lastIndex = position
    return expression.test(text)
  }

function characterTest(source: string, flags: string): (character: string, code: number) => boolean {
  const expression = new RegExp(`^(?:${source})$`, flags)
  const ofAscii = Array.from({ length: 128 }, (_, code) => expression.test(String.fromCharCode(code)))
  // Many states may test one character, since a repetition copies its states.
  let last = -1
  let isLastIn = false
  return function testCharacter(character, code) {
    if (code < 128) return ofAscii[code] as boolean
    if (code !== last) isLastIn = expression.test(character)
    last = code
    return isLastIn
  }
}

/** The facts about a position: a bit for `^` and `$`, and from `firstFact` on one for each other assertion. */
const atStart = 1
const atEnd = 2
const firstFact = 4

/**
 * A DFA state: the consuming states that are reached at a position, whether the end of the pattern is reached, and the
 * next DFA state by the facts about the next position and an ASCII character.
 */
type StateSet = { states: State[]; isMatch: boolean; transitions: StateSet[] }

/**
 * Returns whether an NFA matches some part of a text. With a table, marks the positions where the NFA reaches its end
 * instead.
 */
type Scan = (text: string, tables: Tables, table?: Uint8Array) => boolean

type Reading = { isBackward: boolean; isAnchored: boolean; readsPairs: boolean }

/**
 * Returns a function that reads a text once by simulating an NFA from every position of the text at once, or from the
 * first one only if it is anchored.
 */
function simulation(start: State[], assertions: Assertion[], reading: Reading): Scan {
  const { isBackward, readsPairs } = reading
  const edge = isBackward ? atEnd : atStart
  const isAnchored = reading.isAnchored || start.every(({ requires }) => requires === edge)
  const later = assertions.filter(({ isFirstOnly }) => !isFirstOnly)
  const origin: StateSet = { states: [], isMatch: false, transitions: [] }
  const stateSets = new Map<string, StateSet>()
  let cachedTransitions = 0
  let step = 0

  /** Adds the consuming states that are reached from some states to a set. */
  function reach(from: State[], facts: number, set: StateSet): void {
    for (const state of from) {
      if (state.step === step) continue
      state.step = step
      if (state.isEnd) set.isMatch = true
      else if (state.requires === undefined) set.states.push(state)
      else if ((state.requires & facts) !== 0) reach(state.to, facts, set)
    }
  }

  /** Returns the set at a position with these facts, after the given set has consumed a character. */
  function consume(from: StateSet, code: number, facts: number): StateSet {
    const set: StateSet = { states: [], isMatch: false, transitions: [] }
    const character = String.fromCodePoint(code)
    step++
    for (const state of from.states) if (state.consumes?.(character, code)) reach(state.to, facts, set)
    if (!isAnchored || from === origin) reach(start, facts, set)
    return set
  }

  function next(from: StateSet, code: number, facts: number): StateSet {
    if (code > 127) return consume(from, code, facts)
    const index = facts * 128 + code
    const known = from.transitions[index]
    if (known !== undefined) return known
    const set = consume(from, code, facts)
    if (cachedTransitions === maxCachedTransitions || stateSets.size === maxCachedSets) return set
    const key = `${set.isMatch} ${set.states.map(({ id }) => id).join()}`
    const cached = stateSets.get(key) ?? set
    stateSets.set(key, cached)
    from.transitions[index] = cached
    cachedTransitions++
    return cached
  }

  function factsAt(text: string, position: number, tables: Tables): number {
    let facts = (position === 0 ? atStart : 0) | (position === text.length ? atEnd : 0)
    const relevant = position === 0 ? assertions : later
    for (const { fact, holds } of relevant) if (holds(text, position, tables)) facts |= fact
    return facts
  }

  function codeAt(text: string, position: number): number {
    if (!isBackward) return readsPairs ? (text.codePointAt(position) as number) : text.charCodeAt(position)
    const pair = readsPairs && position > 1 ? (text.codePointAt(position - 2) as number) : 0
    return pair > 0xffff ? pair : text.charCodeAt(position - 1)
  }

  return function scan(text, tables, table) {
    const last = isBackward ? 0 : text.length
    let position = text.length - last
    let current = next(origin, 0, factsAt(text, position, tables))
    for (;;) {
      if (table === undefined && current.isMatch) return true
      if (table !== undefined && current.isMatch) table[position] = 1
      if (position === last || (isAnchored && current.states.length === 0)) return false
      const code = codeAt(text, position)
      const width = code > 0xffff ? 2 : 1
      position += isBackward ? -width : width
      current = next(current, code, factsAt(text, position, tables))
    }
  }
}
