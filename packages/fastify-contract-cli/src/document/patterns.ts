import { createRequire } from 'node:module'
import { createContext, Script } from 'node:vm'
import {
  compilePattern,
  linearKeyword,
  linearPattern,
  type PatternAlternative,
  type PatternElement,
  syntaxOf,
} from 'fastify-contract/schema'
import type { Node } from './walk-document.ts'

/** Characters. A name that a quadratic pattern of patternProperties checks may have at most so many. */
export const maxSlowLength = 800

/** Characters. The analysis of a longer pattern with a repetition can take minutes. */
export const maxPatternLength = 500

/**
 * Steps and sizes bound the analysis, never the clock: each machine must accept the same documents. An analysis with a
 * larger automaton takes up to 20 s. The fuzzer, which has no proof, then tries texts of up to `maxSlowLength`
 * characters, and reports those that take more than 125 steps a character.
 */
const bounds = {
  timeout: null,
  attackTimeout: null,
  incubationTimeout: null,
  maxNFASize: 3_000,
  maxIteration: 3,
  maxGeneStringSize: maxSlowLength,
  maxAttackStringSize: maxSlowLength,
  incubationLimit: 25_000,
  attackLimit: 100_000,
  randomSeed: 0,
}

/** How the time of a match grows with the length of the text; `unknown` if the analysis proves no bound. */
type Growth = 'linear' | 'quadratic' | 'steep' | 'unknown'

type Analysis = {
  status: 'safe' | 'vulnerable' | 'unknown'
  checker?: 'automaton' | 'fuzz'
  complexity?: { type: string; degree?: number }
}

const known = new Map<string, Growth>()

/** Returns how the time of a backtracking match of a pattern grows with the length of the text. */
export function growthOf(pattern: string): Growth {
  const growth = known.get(pattern) ?? analyze(pattern)
  known.set(pattern, growth)
  return growth
}

/** Returns the syntax of a pattern; undefined if it has none. */
function alternativesOf(pattern: string): PatternAlternative[] | undefined {
  const expression = expressionOf(pattern)
  return expression && syntaxOf(expression).alternatives
}

const surelyLinear = new Map<string, boolean>()

function isSurelyLinear(pattern: string): boolean {
  const isLinear = surelyLinear.get(pattern) ?? provesLinear(pattern)
  surelyLinear.set(pattern, isLinear)
  return isLinear
}

/**
 * Returns whether a match surely takes linear time, which spares most documents the analyzer: the pattern repeats little,
 * or it has no groups, matches at the start of a text only, and a character follows each repetition but the last that
 * the repetition does not match. Then each length of a repetition fails at once.
 */
function provesLinear(pattern: string): boolean {
  const alternatives = alternativesOf(pattern)
  // The rules reject a pattern that is none, and nothing matches it.
  if (alternatives === undefined) return true
  if (!isRepeated(alternatives) && !hasManyChoices(alternatives)) return true
  const [{ elements } = { elements: [] }, second] = alternatives
  const [start] = elements
  if (second !== undefined || start?.type !== 'Assertion' || start.kind !== 'start') return false
  if (elements.some((element) => insideOf(element).length > 0 || repeatedElement(element).type === 'Backreference'))
    return false
  const last = elements.findLastIndex(isVariable)
  const { flags } = compilePattern(pattern)
  for (const [index, element] of elements.slice(0, Math.max(last, 0)).entries())
    if (isVariable(element) && !endsAt(elements[index + 1] as PatternElement, element, flags)) return false
  return true
}

/** Returns whether an element is a character that a repetition before it does not match. */
function endsAt(element: PatternElement, before: PatternElement, flags: string): boolean {
  const character = repeatedElement(element)
  if (character.type !== 'Character' || (element.type === 'Quantifier' && element.min === 0)) return false
  return !new RegExp(`^${repeatedElement(before).raw}$`, flags).test(String.fromCodePoint(character.value))
}

/** Returns the element that a quantifier repeats; any other element itself. */
const repeatedElement = (element: PatternElement): PatternElement =>
  element.type === 'Quantifier' ? element.element : element

/** Returns whether the number of repetitions of an element varies. */
const isVariable = (element: PatternElement): boolean => element.type === 'Quantifier' && element.min !== element.max

/** Returns the alternatives inside of a group or a lookaround, which may be repeated. */
function insideOf(element: PatternElement): PatternAlternative[] {
  const inner = repeatedElement(element)
  return 'alternatives' in inner ? inner.alternatives : []
}

/** Without a repeated part there is little to backtrack to. */
function isRepeated(alternatives: PatternAlternative[]): boolean {
  for (const { elements } of alternatives) {
    for (const element of elements) {
      const { min, max } = element.type === 'Quantifier' ? element : { min: 1, max: 1 }
      const inside = insideOf(element)
      if ((max > 1 && (min !== max || inside.length > 0)) || isRepeated(inside)) return true
    }
  }
  return false
}

/** Returns whether a group is repeated, or more choices follow each other than can be tried in all combinations. */
const hasManyChoices = (alternatives: PatternAlternative[]): boolean => choicesIn(alternatives) > 10

/** Returns the maximum number of choices in a row: of alternatives, of optional parts, and of repeated groups. */
function choicesIn(alternatives: PatternAlternative[]): number {
  let most = 0
  for (const { elements } of alternatives) {
    let choices = 0
    for (const element of elements) choices += choicesOf(element)
    most = Math.max(most, choices)
  }
  return alternatives.length > 1 ? most + 1 : most
}

function choicesOf(element: PatternElement): number {
  const inside = insideOf(element)
  const choices = choicesIn(inside)
  if (element.type !== 'Quantifier') return choices
  const { min, max } = element
  if (inside.length > 0 && max > 1) return Infinity
  return min === 0 && max === 1 ? choices + 1 : choices
}

function analyze(pattern: string): Growth {
  if (isSurelyLinear(pattern)) return 'linear'
  if (pattern.length > maxPatternLength) return 'unknown'
  // The published package has a copy of this module: npm would install 52 MB of programs with the whole of recheck.
  const { checkSync } = createRequire(import.meta.url)('#recheck') as {
    checkSync(source: string, flags: string, options: object): Analysis
  }
  const { source, flags } = compilePattern(pattern)
  let analysis = checkSync(source, flags, bounds)
  // The automaton takes each finite choice for constant, also the many of ^((a{1,9}){1,9}){1,9}$ and ^(a?a?…)aa…$.
  if (analysis.status === 'safe' && analysis.checker === 'automaton' && hasManyChoices(alternativesOf(pattern) ?? [])) {
    analysis = checkSync(source, flags, { ...bounds, checker: 'fuzz' })
  }
  const { status, checker, complexity } = analysis
  if (status === 'unknown') return 'unknown'
  if (status === 'safe') return 'linear'
  if (complexity?.type !== 'polynomial' || complexity.degree !== 2) return 'steep'
  // The fuzzer finds a lower bound: it calls some patterns that take cubic time quadratic.
  return checker === 'automaton' ? 'quadratic' : 'unknown'
}

/** Returns the regular expression of a pattern, or undefined if a text is not one. */
export function expressionOf(pattern: string): RegExp | undefined {
  try {
    return compilePattern(pattern)
  } catch {
    return undefined
  }
}

/**
 * Returns a schema whose `pattern` the service matches in linear time, and whose `patternProperties` check only names
 * whose length it allows.
 */
export function withBoundedPatterns(schema: Node): Node {
  const { patternProperties = {}, allOf = [] } = schema
  const keys = Object.keys(patternProperties as object)
  if (keys.every((key) => growthOf(key) === 'linear')) return withLinearPattern(schema)
  // Ajv checks allOf before patternProperties, and stops at the first error of a large body.
  const names = { propertyNames: { maxLength: maxSlowLength } }
  return withLinearPattern({ ...schema, allOf: [...(allOf as unknown[]), names] })
}

function withLinearPattern(schema: Node): Node {
  const { pattern, ...rest } = schema
  if (typeof pattern !== 'string' || isSurelyLinear(pattern) || linearPattern(pattern) === undefined) return schema
  return { ...rest, [linearKeyword]: pattern }
}

/**
 * Time limit of one match in milliseconds. A match takes microseconds unless the pattern backtracks catastrophically.
 */
const timeout = 200

const script = new Script('expression.test(text)')
const context = createContext({})

/**
 * Returns whether a text matches a regular expression of ECMA-262; an invalid one matches nothing.
 * Returns undefined if the match takes longer than 200 ms, since the document may hold any pattern.
 */
export function matchesPattern(pattern: string, text: string): boolean | undefined {
  try {
    const expression = compilePattern(pattern)
    if (isSurelyLinear(pattern)) return expression.test(text)
    Object.assign(context, { expression, text })
    return script.runInContext(context, { timeout })
  } catch (error) {
    return (error as { code?: unknown }).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT' ? undefined : false
  }
}

/** The maximum length of an example string: a quantifier or a minLength may require any length. */
export const maxLength = 1000

/**
 * Candidates for a character class or an escape, in order of preference: letters and digits, then the rest of ASCII.
 */
const characters = new Set([
  ...'a0A',
  ...Array.from({ length: 95 }, (_, index) => String.fromCharCode(32 + index)),
  ...'\t\n\u00e9',
])

/**
 * Returns a string that matches a regular expression of ECMA-262. Each quantified part is repeated
 * `more` times beyond its minimum, as far as its maximum allows. The string is built part by part, ignoring
 * backreferences. If it does not satisfy the lookarounds, other characters are tried, and the texts of the lookaheads at
 * the start. Returns undefined if no result matches.
 */
export function textOfPattern(given: string, more = 0): string | undefined {
  for (const choice of /\(\?<?[=!]/.test(given) ? [0, 1] : [0]) {
    const { text, required } = builtText(given, more, choice)
    if (text === undefined) return undefined
    const start = required.join('')
    for (const candidate of new Set([text, start + text.slice(start.length), start + text])) {
      const isMatch = candidate.length <= maxLength ? matchesPattern(given, candidate) : false
      if (isMatch) return candidate
      // The match took too long.
      if (isMatch === undefined) return undefined
    }
  }
  return undefined
}

/** Returns a text that is built of the parts of a pattern, and the texts of its lookaheads. */
function builtText(given: string, more: number, choice: number): { text?: string; required: string[] } {
  const required: string[] = []

  function shortText([first]: PatternAlternative[]): string {
    let text = ''
    for (const element of first?.elements ?? []) {
      text += element.type === 'Quantifier' ? repeatedText(element) : elementText(element)
    }
    return text
  }

  function elementText(element: PatternElement): string {
    const { type, raw } = element
    if (type === 'Character') return raw.startsWith('\\') ? characterOf(raw, choice) : raw
    if (type === 'CharacterClass' || type === 'CharacterSet') return characterOf(raw, choice)
    const text = shortText(insideOf(element))
    if (type !== 'Assertion') return text
    if (element.kind === 'lookahead' && !element.negate) required.push(text)
    return ''
  }

  function repeatedText({ element, min, max }: Extract<PatternElement, { type: 'Quantifier' }>): string {
    const text = elementText(element)
    const count = Math.min(min + more, max)
    if (count * text.length > maxLength) throw new RangeError('too long')
    return text.repeat(count)
  }

  try {
    return { text: shortText(alternativesOf(given) ?? []), required }
  } catch {
    return { required }
  }
}

/** Returns a character of a class: the first one, or the one of a later choice. */
function characterOf(source: string, choice: number): string {
  const one = compilePattern(`^(?:${source})$`)
  const found = [...characters].filter((each) => one.test(each))
  return found[choice % found.length] ?? ''
}
