// A pattern in tokenizer.json is run on every text. Some patterns take time that doubles with each letter, so that a file could stop the
// program for good. Patterns whose parts can match the same text in many ways are refused; those of published tokenizers do not need that.
import { knownPatterns } from './from-gguf/splits.js'

/** How many ways of matching a part of a pattern leaves open. */
interface Ways {
  /** Repetitions without a limit: each multiplies the time by the length of the text. */
  readonly loops: number
  /** Choices besides: each is tried with all others. */
  readonly choices: number
}

const one: Ways = { loops: 0, choices: 1 }
const maxLength = 8192
const maxDepth = 32
const maxLoops = 3
const maxChoices = 10_000
const maxRepeats = 1024

/** Why a pattern is not run; undefined if it is. */
export function patternProblem(pattern: string): string | undefined {
  if (knownPatterns.has(pattern)) return undefined
  if (pattern.length > maxLength) return `it has ${pattern.length} characters; at most ${maxLength} are taken`
  const reader = { pattern, at: 0 }
  try {
    readBranches(reader, 0)
  } catch (error) {
    if (error instanceof Problem) return `${error.message} (at character ${reader.at})`
    throw error
  }
  return reader.at < pattern.length
    ? `a parenthesis is closed that was not opened (at character ${reader.at})`
    : undefined
}

class Problem extends Error {}

interface Reader {
  readonly pattern: string
  at: number
}

/** Branches up to the end of the group. Only one of them matches, so that the worst counts. */
function readBranches(reader: Reader, depth: number): Ways {
  if (depth > maxDepth) throw new Problem(`groups are nested more than ${maxDepth} deep`)
  let [loops, choices] = [0, 0]
  for (;;) {
    const branch = readSequence(reader, depth)
    loops = Math.max(loops, branch.loops)
    choices += branch.choices
    if (reader.pattern[reader.at] !== '|') return bounded({ loops, choices })
    reader.at++
  }
}

function readSequence(reader: Reader, depth: number): Ways {
  let ways = one
  while (reader.at < reader.pattern.length && !'|)'.includes(reader.pattern[reader.at]!)) {
    const item = repeated(readItem(reader, depth), reader)
    ways = { loops: ways.loops + item.loops, choices: ways.choices * item.choices }
    // At the outermost level branches are tried one after the other, but what stands in one of them adds up.
    bounded(ways)
  }
  return depth === 0 ? { ...ways, choices: 1 } : ways
}

function readItem(reader: Reader, depth: number): Ways {
  const { pattern } = reader
  const char = pattern[reader.at++]!
  if (char === '\\') {
    const named = /^[pPxu]\{[^}]*\}/.exec(pattern.slice(reader.at, reader.at + 64))
    reader.at += named ? named[0].length : 1
    return one
  }
  if (char === '[') {
    skipClass(reader)
    return one
  }
  if (char !== '(') return one
  const opening = /^\?(?:<?[=!]|[:>]|<[\w]*>|[a-z-]*:)/.exec(pattern.slice(reader.at, reader.at + 64))
  reader.at += opening?.[0].length ?? 0
  const inner = readBranches(reader, depth + 1)
  if (pattern[reader.at] !== ')') throw new Problem('a parenthesis is not closed')
  reader.at++
  return inner
}

/** Classes can contain others. */
function skipClass(reader: Reader): void {
  const { pattern } = reader
  let depth = 1
  if (pattern[reader.at] === '^') reader.at++
  if (pattern[reader.at] === ']') reader.at++
  while (depth > 0) {
    const char = pattern[reader.at++]
    if (char === undefined) throw new Problem('a bracket is not closed')
    if (char === '\\') reader.at++
    else if (char === '[') depth++
    else if (char === ']') depth--
  }
}

/** What is repeated must not leave anything open, or every repetition multiplies it. */
function repeated(item: Ways, reader: Reader): Ways {
  const found = /^(?:[*+?]|\{(\d{1,9})(,(\d{0,9}))?\})[+?]?/.exec(reader.pattern.slice(reader.at, reader.at + 32))
  if (!found) return item
  reader.at += found[0].length
  const [text, least = '', range, most = ''] = found
  if (text.startsWith('?')) return { ...item, choices: item.choices + 1 }
  const max = text.startsWith('{')
    ? range === undefined
      ? Number(least)
      : most === ''
        ? Infinity
        : Number(most)
    : Infinity
  if (max !== Infinity && max > maxRepeats) throw new Problem(`more than ${maxRepeats} repetitions`)
  if (max === Infinity) {
    if (item.loops > 0 || item.choices > 1)
      throw new Problem('a group is repeated that can match the same text in several ways: that can take forever')
    return { loops: 1, choices: 1 }
  }
  if (item.loops > 0) throw new Problem('a group is repeated that contains a repetition: that can take forever')
  const ends = range === undefined ? 1 : max - Number(least) + 1
  return bounded({ loops: 0, choices: Math.max(1, ends) * item.choices ** max })
}

function bounded(ways: Ways): Ways {
  if (ways.loops > maxLoops) throw new Problem(`more than ${maxLoops} repetitions follow each other`)
  if (ways.choices > maxChoices) throw new Problem('there are too many ways to match the same text')
  return ways
}
