// The rules by which the mixes of llama-quantize give some weights more or fewer bits than the rest. They are tables: for a role, which file
// types a rule is for, when it holds, and the type that it gives. The first rule that holds counts; without one a weight gets the type of
// the mix. They come from measurements of perplexity by the authors of llama.cpp.
import type { FileType } from './file-types.js'
import type { ModelFacts } from './model-facts.js'
import type { Role } from './roles.js'

/** What a rule may ask about a weight and its model. */
export interface Situation extends ModelFacts {
  /** How many weights of its role came before, in the order of layers. */
  readonly index: number
  /** The layer that it is in. Only a model with experts differs from `index`: there several weights of a role are in a layer. */
  readonly layer: number
  /** How many weights are V, or hold it. */
  readonly attentionCount: number
  readonly hasImatrix: boolean
}

type Condition = (situation: Situation) => boolean
type Rule = readonly [fileTypes: string, when: Condition, type: string]

const part = (layers: number, of: number): number => Math.floor(layers / of)

const always: Condition = () => true
const isFalcon: Condition = ({ architecture }) => architecture === 'falcon'
const hasEightExperts: Condition = ({ experts }) => experts === 8
const hasImatrix: Condition = (situation) => situation.hasImatrix
const sharesV: Condition = ({ headsPerKv }) => headsPerKv >= 4
const isFirst =
  (count: number): Condition =>
  ({ index }) =>
    index < count
const inFirst =
  (of: number): Condition =>
  ({ layer, layers }) =>
    layer < part(layers, of)
const isInner: Condition = ({ layer, layers }) => layer >= part(layers, 8) && layer < Math.floor((7 * layers) / 8)

/** The first and the last eighth, and every third in between. */
const isSensitive = (index: number, count: number): boolean =>
  index < part(count, 8) || index >= Math.floor((7 * count) / 8) || (index - part(count, 8)) % 3 === 2
const inSensitiveLayer: Condition = ({ layer, layers }) => isSensitive(layer, layers)
const isSensitiveV: Condition = ({ index, attentionCount }) => isSensitive(index, attentionCount)

const not =
  (condition: Condition): Condition =>
  (situation) =>
    !condition(situation)
const both =
  (a: Condition, b: Condition): Condition =>
  (situation) =>
    a(situation) && b(situation)
const either =
  (a: Condition, b: Condition): Condition =>
  (situation) =>
    a(situation) || b(situation)

/** Mixes of about two bits and less. */
const tiny = 'iq1_s iq1_m iq2_xxs iq2_xs iq2_s iq2_m'
const smallTiny = 'iq1_s iq1_m iq2_xxs iq2_xs'
const largeTiny = 'iq2_s iq2_m'

const attentionV: readonly Rule[] = [
  [tiny, either(sharesV, ({ experts }) => experts >= 4), 'q4_k'],
  [largeTiny, always, 'iq3_s'],
  [smallTiny, always, 'q2_k'],
  ['q2_k', sharesV, 'q4_k'],
  ['q2_k', always, 'q3_k'],
  ['q2_k_s iq3_xxs iq3_xs iq3_s', sharesV, 'q4_k'],
  ['iq3_xxs', not(hasImatrix), 'iq3_s'],
  ['iq3_m', always, 'q4_k'],
  ['q3_k_m', isFirst(2), 'q5_k'],
  ['q3_k_m', always, 'q4_k'],
  ['q3_k_l', always, 'q5_k'],
  ['iq4_nl iq4_xs', sharesV, 'q5_k'],
  ['q4_k_m q5_k_m', isSensitiveV, 'q6_k'],
  ['q4_k_s', isFirst(4), 'q5_k'],
]

const attentionK: readonly Rule[] = [
  [tiny, hasEightExperts, 'q4_k'],
  [tiny, always, ''],
  ['', hasEightExperts, 'q8_0'],
  ['iq3_xs', always, 'iq3_xxs'],
  ['iq3_xxs', always, 'iq2_s'],
]

const attentionQ: readonly Rule[] = [
  ['iq3_xs', always, 'iq3_xxs'],
  ['iq3_xxs', always, 'iq2_s'],
]

const attentionOutput: readonly Rule[] = [
  [tiny, hasEightExperts, 'q5_k'],
  ['iq1_s iq1_m', always, 'iq2_xxs'],
  [largeTiny, always, 'iq3_s'],
  ['q3_k_l', isFalcon, 'q4_k'],
  ['', isFalcon, ''],
  ['q2_k q3_k_s q3_k_m q4_k_s q4_k_m iq3_xxs iq3_xs iq3_s iq3_m iq4_nl iq4_xs', hasEightExperts, 'q5_k'],
  ['', hasEightExperts, ''],
  ['q2_k', always, 'q3_k'],
  ['iq3_xxs', always, 'iq3_s'],
  ['q3_k_m iq3_m', always, 'q4_k'],
  ['q3_k_l', always, 'q5_k'],
]

const ffnDown: readonly Rule[] = [
  [largeTiny, ({ index, layers }) => index < part(layers, 8), 'iq3_s'],
  [smallTiny, ({ index, layers }) => index < part(layers, 8), 'q2_k'],
  ['q2_k', always, 'q3_k'],
  ['q2_k_s', inFirst(8), 'q4_k'],
  ['iq3_xxs', both(not(hasImatrix), inFirst(8)), 'q4_k'],
  ['iq3_xxs', not(hasImatrix), 'q3_k'],
  ['q3_k_m', inFirst(16), 'q5_k'],
  ['q3_k_m', either(not(isFalcon), inSensitiveLayer), 'q4_k'],
  ['iq3_m', either(inFirst(8), both(hasEightExperts, inSensitiveLayer)), 'q4_k'],
  ['q3_k_l', isFalcon, 'q4_k'],
  ['q3_k_l', always, 'q5_k'],
  ['q4_k_m', both(isFalcon, inFirst(16)), 'q6_k'],
  ['q4_k_m', both(isFalcon, inSensitiveLayer), 'q5_k'],
  ['q4_k_m', both(not(isFalcon), inSensitiveLayer), 'q6_k'],
  ['iq4_nl iq4_xs', both(not(hasImatrix), inFirst(8)), 'q5_k'],
  ['q5_k_m', inSensitiveLayer, 'q6_k'],
  ['q4_k_s', both(not(isFalcon), inFirst(8)), 'q5_k'],
  ['q4_0', both(hasImatrix, inFirst(8)), 'q4_1'],
  ['q5_0', both(hasImatrix, inFirst(8)), 'q5_1'],
]

const ffnUpOrGate: readonly Rule[] = [['iq3_xs', isInner, 'iq3_xxs']]

const embedding: readonly Rule[] = [
  [smallTiny, always, 'q2_k'],
  [`${largeTiny} iq3_xxs`, always, 'iq3_s'],
  ['tq1_0 tq2_0 q2_0', always, 'q4_k'],
]

const rules: Readonly<Record<Role, readonly Rule[]>> = {
  // The output has a rule of its own, which asks for its shape.
  output: [],
  embedding,
  attentionV,
  attentionK,
  attentionQ,
  attentionOutput,
  ffnUp: ffnUpOrGate,
  ffnGate: ffnUpOrGate,
  ffnDown,
  other: [],
}

/** The type that the rules for this role give to a weight. */
export function typeByRole(role: Role, { name, type }: FileType, situation: Situation): string {
  const rule = rules[role].find(([names, when]) => (names === '' || names.split(' ').includes(name)) && when(situation))
  const found = rule?.[2] || type
  return role === 'attentionV' && !tiny.split(' ').includes(name) ? raisedV(found, situation) : found
}

/** V is small where heads share it, or beside experts, and then more bits for it cost little. */
function raisedV(type: string, situation: Situation): string {
  if (hasEightExperts(situation)) return 'q8_0'
  return situation.isLarge && (type === 'q3_k' || type === 'q4_k') ? 'q5_k' : type
}

/** The type of the output; also that of the embedding where it is the output as well. */
export function outputType({ name, type }: FileType, isWhole: boolean, { architecture }: ModelFacts): string {
  if (name === 'mxfp4_moe' || architecture === 'falcon' || !isWhole) return 'q8_0'
  if (`${tiny} iq3_xxs`.split(' ').includes(name)) return 'q5_k'
  return type === 'q8_0' ? 'q8_0' : 'q6_k'
}
