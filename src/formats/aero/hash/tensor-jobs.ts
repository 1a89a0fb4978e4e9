// The tensors of a file against their hashes in the index.
import { sameBytes } from '../control/chunk.js'
import type { TensorTable } from '../index/tensor-table.js'
import type { HashJob, ManyJobs } from './hash-jobs.js'

/** Jobs for the tensors that `isWanted` chooses, which lie in the file and have a hash; `complain` is told which are wrong. */
export function manyTensors(
  table: TensorTable,
  isWanted: (i: number) => boolean,
  complain: (i: number) => void,
): ManyJobs {
  return {
    numbers: numbersOf(table, isWanted),
    at: (i) => new TensorJob(table, i, complain),
  }
}

class TensorJob implements HashJob {
  readonly start: number
  readonly end: number
  readonly #table: TensorTable
  readonly #position: number
  readonly #complain: (i: number) => void

  constructor(table: TensorTable, position: number, complain: (i: number) => void) {
    this.start = table.startOf(position)
    this.end = table.endOf(position)
    this.#table = table
    this.#position = position
    this.#complain = complain
  }

  isRight(digest: Uint8Array): boolean {
    return sameBytes(digest, this.#table.hashOf(this.#position)!)
  }

  complain(): void {
    this.#complain(this.#position)
  }
}

function* numbersOf(table: TensorTable, isWanted: (i: number) => boolean): Generator<number, void, void> {
  for (const i of table.inFileOrder()) if (isWanted(i) && table.shardOf(i) && table.hasHash(i)) yield i
}
