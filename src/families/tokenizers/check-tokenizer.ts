// A tokenizer is a small program in JSON: steps that change a text, split it, and put it together again. Before one is run, it must be
// certain that it ends, and that no step makes a text much longer.
import { isObject } from '../facts.js'
import type { Config } from '../family.js'
import { patternProblem } from './patterns.js'

export type Refuse = (path: string, message: string) => never

const maxSteps = 64
const maxDepth = 8
const maxGrowth = 64

export function checkTokenizer(tokenizer: Config, refuse: Refuse): void {
  for (const kind of ['normalizer', 'pre_tokenizer', 'post_processor', 'decoder'] as const) {
    const stated = tokenizer[kind]
    if (stated == null) continue
    const state = { steps: 0, growth: 1 }
    checkStep(stated, kind, 0, state, refuse)
  }
}

interface State {
  steps: number
  growth: number
}

/** The lists in which steps of a sequence stand. */
const lists = ['normalizers', 'pretokenizers', 'processors', 'decoders']

function checkStep(step: unknown, path: string, depth: number, state: State, refuse: Refuse): void {
  if (!isObject(step)) refuse(path, 'an object was expected')
  if (++state.steps > maxSteps || depth > maxDepth)
    refuse(path, `more than ${maxSteps} steps, or more than ${maxDepth} deep`)
  for (const key of lists) {
    const inner = step[key]
    if (inner === undefined) continue
    if (!Array.isArray(inner)) refuse(`${path}.${key}`, 'a list was expected')
    for (const [i, each] of inner.entries()) checkStep(each, `${path}.${key}[${i}]`, depth + 1, state, refuse)
  }
  checkPattern(step.pattern, `${path}.pattern`, refuse)
  checkGrowth(step, path, state, refuse)
  for (const key of ['single', 'pair'])
    if (Array.isArray(step[key]) && step[key].length > maxSteps)
      refuse(`${path}.${key}`, `${step[key].length} pieces are put around a text; at most ${maxSteps} are taken`)
  if (step.type === 'FixedLength' && !(Number.isInteger(step.length) && Number(step.length) > 0))
    refuse(`${path}.length`, `${JSON.stringify(step.length)} is not a length`)
}

function checkPattern(pattern: unknown, path: string, refuse: Refuse): void {
  if (pattern === undefined) return
  const { Regex: regex, String: plain } = isObject(pattern) ? pattern : {}
  if (typeof plain === 'string' && regex === undefined) return
  if (typeof regex !== 'string') refuse(path, 'a Regex or a String was expected')
  const problem = patternProblem(regex)
  if (problem !== undefined) refuse(`${path}.Regex`, `the pattern is not run: ${problem}`)
}

/** References to what was found can double a text each time. */
const reference = /\$[&'`<\d]/

function checkGrowth(step: Config, path: string, state: State, refuse: Refuse): void {
  const made = step.content ?? step.prepend
  if (typeof made !== 'string') return
  if (step.type === 'Replace' && reference.test(made)) refuse(`${path}.content`, 'it refers to what it replaces')
  if (step.type !== 'Replace' && step.type !== 'Prepend') return
  const [from] = isObject(step.pattern) && typeof step.pattern.String === 'string' ? [step.pattern.String] : ['']
  state.growth *= Math.max(1, Math.ceil(made.length / Math.max(1, from.length)))
  if (state.growth > maxGrowth) refuse(path, `a text could become more than ${maxGrowth} times as long`)
}
