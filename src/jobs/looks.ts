// Looks at values as tasks of a job. What a layout depends on (ranges of values, errors of methods, digests of equal tensors) is read in rounds:
// each worker plans up to the first round that nobody has answered, and does its share of that. What was found goes into the job, and the next
// plan gets as far as the next round, or to the end.
import type { LookAt, LookKind } from '../convert/plan.js'
import { failWith } from '../errors/index.js'
import type { Clip } from '../transforms/quantize/quantize.js'
import { jobCodes } from './codes.js'
import { numbersOf, textsOf } from './options.js'
import { count, fields, list, matching, numeral, type Shape, text, tuple } from './shapes.js'

/** As plain JSON. */
export type LookAnswer = unknown

/** What was found, in the order in which planning asks for it. */
export interface LookRound {
  readonly kind: LookKind
  readonly answers: readonly LookAnswer[]
}

export interface NextLooks {
  readonly kind: LookKind
  readonly count: number
}

/** Planning got as far as a round that nobody has answered. */
export class OpenLooks extends Error implements NextLooks {
  readonly kind: LookKind
  readonly costs: readonly number[]
  readonly #look: Parameters<LookAt>[2]

  constructor(kind: LookKind, costs: readonly number[], look: Parameters<LookAt>[2]) {
    super(`values have to be looked at: ${kind}`)
    this.kind = kind
    this.costs = costs
    this.#look = look
  }

  get count(): number {
    return this.costs.length
  }

  async answer(place: number, signal?: AbortSignal): Promise<LookAnswer> {
    return codecs[this.kind].encode(await this.#look(place, signal))
  }
}

/** Answers what is known, and ends planning where that ends. */
export function looksFrom(known: readonly LookRound[], file: string): LookAt {
  let round = 0
  return async (kind, costs, look) => {
    if (costs.length === 0) return []
    const found = known[round++]
    if (!found) throw new OpenLooks(kind, costs, look)
    if (found.kind !== kind || found.answers.length !== costs.length) {
      const message = `values were looked at for another plan (${found.answers.length} of ${found.kind}; here ${costs.length} of ${kind})`
      failWith(jobCodes.layout, { file, message })
    }
    return found.answers.map(codecs[kind].decode)
  }
}

interface Codec {
  readonly shape: Shape
  encode(found: unknown): LookAnswer
  decode(answer: LookAnswer): unknown
}

type Methods = readonly { readonly method: string; readonly bytes: number; readonly error: number }[]
type PlainMethods = readonly { readonly method: string; readonly bytes: number; readonly error: string }[]

const codecs: Readonly<Record<LookKind, Codec>> = {
  range: {
    shape: tuple([numeral, numeral]),
    encode: (found) => textsOf(found as Clip),
    decode: (answer) => numbersOf(answer as readonly [string, string]),
  },
  methods: {
    shape: list(fields({ method: text, bytes: count, error: numeral })),
    encode: (found) => (found as Methods).map((each) => ({ ...each, error: String(each.error) })),
    decode: (answer) => (answer as PlainMethods).map((each) => ({ ...each, error: Number(each.error) })),
  },
  digest: {
    shape: matching(/^[0-9a-f]{64}$/, 'a digest'),
    encode: (found) => found,
    decode: (answer) => answer,
  },
}

export const lookKinds = Object.keys(codecs)

/** Complains unless the answers are such as the kind has. */
export const answersShape = (kind: LookKind): Shape => list(codecs[kind].shape)
