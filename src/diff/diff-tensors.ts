// All tensors of two models: paired, compared, and put in order of how grave the differences are.
import type { Model, Tensor } from '../model/index.js'
import type { WorkerPool } from '../threads/index.js'
import { selector } from '../transforms/select.js'
import { firstDifferences } from './compare-ranges.js'
import { compareTensors, sideOf, storedBytes } from './compare-tensors.js'
import { matchContents, matchNameless, matchNames, renameCandidates } from './match-tensors.js'
import { severity, type ToleranceOptions } from './tolerance.js'
import { type ProgressOptions, trackProgress } from './track-progress.js'
import { type DifferenceCounts, type TensorDifference, tensorChanges } from './types.js'

export interface TensorOptions extends ToleranceOptions, ProgressOptions {
  /** Only tensors whose name matches. */
  readonly tensors?: readonly string[] | undefined
  /** False: only find out what differs, and leave the numbers alone unless a tolerance needs them. */
  readonly measure?: boolean | undefined
  /** Threads that hashing and comparing can be spread over. */
  readonly pool?: WorkerPool | undefined
}

export interface ComparedTensors {
  readonly differences: readonly TensorDifference[]
  readonly counts: DifferenceCounts
}

export async function diffTensors(a: Model, b: Model, options: TensorOptions): Promise<ComparedTensors> {
  const isWanted = selector(options.tensors)
  const wanted = (model: Model): Tensor[] => model.tensors.filter(({ name }) => isWanted(name))
  const [listA, listB] = [wanted(a), wanted(b)]
  const isAnyWanted = listA.length + listB.length > 0
  const named = (isAnyWanted && matchNameless(a.tensors, b.tensors)) || matchNames(listA, listB)
  const hashed = sizeOf(renameCandidates(named.onlyA, named.onlyB))
  const tracker = trackProgress(hashed + sizeOf(named.pairs.flatMap((pair) => [pair.a, pair.b])), options)
  const {
    onlyA,
    onlyB,
    pairs: renamed,
  } = await matchContents(named, { a, b }, { ...tracker.step('', hashed), pool: options.pool })
  const changed: TensorDifference[] = []
  const stored = {
    count: named.pairs.length,
    pair: (i: number) => storedBytes(named.pairs[i]!.a, named.pairs[i]!.b),
  }
  const found = await firstDifferences(stored, options.pool, (bytes) => tracker.step('', bytes))
  for (const [i, pair] of named.pairs.entries()) {
    const firstByte = found.get(i)
    const watch = tracker.step(pair.a.name, firstByte === undefined ? sizeOf([pair.a, pair.b]) : 0)
    const difference = await compareTensors(pair.a, pair.b, { ...options, ...watch, firstByte })
    if (difference) changed.push(difference)
  }
  const close = changed.filter((each) => each.close).length
  return {
    differences: [
      ...onlyA.map((tensor) => ({ name: tensor.name, change: 'missing' as const, a: sideOf(tensor) })),
      ...onlyB.map((tensor) => ({ name: tensor.name, change: 'extra' as const, b: sideOf(tensor) })),
      ...changed.sort(gravestFirst(options)),
      ...renamed.map((pair) => ({
        ...{ name: pair.a.name, change: 'renamed' as const },
        ...{ a: sideOf(pair.a), b: sideOf(pair.b) },
      })),
    ],
    counts: {
      equal: named.pairs.length - changed.length,
      changed: changed.length - close,
      close,
      missing: onlyA.length,
      extra: onlyB.length,
      renamed: renamed.length,
    },
  }
}

function sizeOf(tensors: Iterable<Tensor>): number {
  let size = 0
  for (const { data } of tensors) size += data?.byteLength ?? 0
  return size
}

/** What the tolerance lets pass comes last; those of one kind by how far the numbers are apart. */
function gravestFirst({ metric }: ToleranceOptions): (a: TensorDifference, b: TensorDifference) => number {
  const compare = (x: number, y: number): number => (x < y ? -1 : x > y ? 1 : 0)
  const severityOf = ({ values }: TensorDifference): number => (values ? severity(values, metric) : -Infinity)
  return (a, b) =>
    compare(a.close ? 1 : 0, b.close ? 1 : 0) ||
    compare(tensorChanges.indexOf(a.change), tensorChanges.indexOf(b.change)) ||
    compare(severityOf(a), severityOf(b))
}
