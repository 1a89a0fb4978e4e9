// The filter of the table: words that must all hold. A word without a sign is part of a name, or a pattern where it has a star; others compare
// a property: `dtype:q4_k size>1M shape:*,4096 nan>0`. A minus before a word turns it around.
import { selector, type Tensor } from 'tare/kit'
import type { TensorFigures } from './figures.js'

/** Undefined where the figures of a tensor are not known yet. */
export type FiguresOf = (index: number) => TensorFigures | undefined

export interface Filter {
  /** The words that are not understood, and why. */
  readonly problems: readonly string[]
  /** Every tensor passes. */
  readonly isEmpty: boolean
  /** Some word asks for figures. */
  readonly needsFigures: boolean
  test(tensor: Tensor, index: number, figures: FiguresOf): boolean
}

type Test = Filter['test']

const units: Readonly<Record<string, number>> = { '': 1, k: 2 ** 10, m: 2 ** 20, g: 2 ** 30, t: 2 ** 40 }

const numbers: Readonly<Record<string, (tensor: Tensor, figures: TensorFigures | undefined) => number | undefined>> = {
  size: ({ data }) => data?.byteLength ?? 0,
  values: ({ shape }) => shape.reduce((product, dim) => product * dim, 1),
  rank: ({ shape }) => shape.length,
  nan: (_, figures) => figures?.nan,
  inf: (_, figures) => figures?.infinite,
  zero: (_, figures) => figures?.zero,
  min: (_, figures) => figures?.min ?? undefined,
  max: (_, figures) => figures?.max ?? undefined,
  mean: (_, figures) => figures?.mean ?? undefined,
  std: (_, figures) => figures?.std ?? undefined,
}

const fromFile = new Set(['size', 'values', 'rank'])

const comparisons: Readonly<Record<string, (a: number, b: number) => boolean>> = {
  '>': (a, b) => a > b,
  '<': (a, b) => a < b,
  '>=': (a, b) => a >= b,
  '<=': (a, b) => a <= b,
  '=': (a, b) => a === b,
}

export function parseFilter(text: string): Filter {
  const problems: string[] = []
  const tests: Test[] = []
  let needsFigures = false
  for (const word of text.split(/\s+/).filter((each) => each !== '' && each !== '-')) {
    const isNot = word.startsWith('-') && word.length > 1
    const plain = isNot ? word.slice(1) : word
    const parsed = parseWord(plain)
    if (typeof parsed === 'string') {
      problems.push(parsed)
      continue
    }
    needsFigures ||= parsed.needsFigures
    const { test } = parsed
    tests.push(isNot ? (tensor, index, figures) => !test(tensor, index, figures) : test)
  }
  return {
    problems,
    isEmpty: tests.length === 0,
    needsFigures,
    test(tensor, index, figures) {
      for (const test of tests) if (!test(tensor, index, figures)) return false
      return true
    },
  }
}

/** A test, or what is wrong with the word. */
function parseWord(word: string): { readonly test: Test; readonly needsFigures: boolean } | string {
  const comparison = /^([a-z]+)(>=|<=|>|<|=)(.*)$/.exec(word)
  if (comparison) {
    const [, name = '', sign = '', text = ''] = comparison
    return compare(word, name, sign, text)
  }
  const property = /^(dtype|type|shape):(.*)$/.exec(word)
  if (property?.[1] === 'shape') return { test: shapeTest(property[2]!), needsFigures: false }
  if (property) return { test: typeTest(property[2]!), needsFigures: false }
  const test = nameTest(word)
  return { test: ({ name }) => test(name), needsFigures: false }
}

function compare(word: string, name: string, sign: string, text: string): ReturnType<typeof parseWord> {
  const value = Object.hasOwn(numbers, name) ? numbers[name] : undefined
  if (!value) return `${name} cannot be compared; known are ${Object.keys(numbers).join(', ')}`
  const amount = parseAmount(text)
  if (amount === undefined) return `${word} ends in no number`
  const holds = comparisons[sign]!
  return {
    needsFigures: !fromFile.has(name),
    test(tensor, index, figures) {
      const known = value(tensor, fromFile.has(name) ? undefined : figures(index))
      return known !== undefined && holds(known, amount)
    },
  }
}

/** 1M is 1,048,576, as sizes are counted. */
function parseAmount(text: string): number | undefined {
  const [, digits, unit = ''] = /^(-?(?:\d+\.?\d*|\.\d+)(?:e-?\d+)?)([kmgt]?)(?:i?b)?$/i.exec(text) ?? []
  return digits === undefined ? undefined : Number(digits) * units[unit.toLowerCase()]!
}

/** The dimensions that are stated must be those; a star is any, and `…` at an end stands for the rest. */
function shapeTest(text: string): Test {
  const wanted = text.replace(/[[\]×x]/g, (sign) => (sign === '×' || sign === 'x' ? ',' : '')).split(',')
  return ({ shape }) =>
    wanted.length === shape.length && wanted.every((dim, i) => dim === '*' || dim === '' || Number(dim) === shape[i])
}

/** ggml's types are known without their family. */
function typeTest(text: string): Test {
  const matches = selector([text.toLowerCase()])
  return ({ dtype, encoding }) => {
    const { id } = encoding ?? dtype
    return matches(id) || matches(id.replace(/^ggml\./, ''))
  }
}

/** Capital letters count where there is one. */
function nameTest(word: string): (name: string) => boolean {
  const isExact = word !== word.toLowerCase()
  const matches = /[*?]/.test(word) ? selector([word]) : (name: string) => name.includes(word)
  if (isExact) return matches
  return (name) => {
    if (matches(name)) return true
    const lower = name.toLowerCase()
    return lower !== name && matches(lower)
  }
}
