// Everything that is fuzzed: the formats, and the other documents that come from outside.
import { formats } from '../../dist/kit.js'
import { seedsOf } from '../corpus.mjs'
import { check } from '../oracles/format.mjs'
import { deltas } from './deltas.mjs'
import { documents } from './documents.mjs'

/**
 * A target has seeds and a check. The check throws a `Broken`, or says what became of the input; `pace` decides how closely it looks.
 * `format` is what the byte map of a seed is made with.
 */
export const targets = [
  ...formats.map(({ id }) => ({
    id,
    format: id,
    seeds: () => seedsOf(id),
    check: (input, random, pace) => check(input, id, random, pace),
  })),
  deltas,
  ...documents,
]

export const targetOf = (id) => targets.find((target) => target.id === id)
