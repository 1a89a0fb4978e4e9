// Pairs all tensors of two models, compares them, and sorts the differences by severity.
import { countElements } from '../bytes/index.js'
import type { Model, Tensor } from '../model/index.js'
import { formatDims } from '../model/model.js'
import { valueCosts } from '../threads/costs.js'
import { isWorthComputing, runMixed, type WorkerPool } from '../threads/index.js'
import { selector } from '../transforms/select.js'
import type { Watch } from './compare-bytes.js'
import { firstDifferences, type PayloadPair } from './compare-ranges.js'
import { compareTensors, sideOf, storedBytes } from './compare-tensors.js'
import { compareValues, valuesJob } from './compare-values.js'
import { type Matches, matchContents, matchNameless, matchNames, renameCandidates } from './match-tensors.js'
import { severity, type ToleranceOptions } from './tolerance.js'
import { type DifferenceCounts, type TensorDifference, tensorChanges, type ValueDifference } from './types.js'

interface ProgressOptions {
  readonly signal?: AbortSignal | undefined
  /** In stored bytes of both models. */
  readonly onProgress?: ((progress: { done: number; total: number; path: string }) => void) | undefined
}

export interface TensorOptions extends ToleranceOptions, ProgressOptions {
  /** Only tensors whose name matches. */
  readonly tensors?: readonly string[] | undefined
  /** False: only find out what differs, and do not compare numbers unless a tolerance requires it. */
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
  const stored = named.pairs.map((pair) => storedBytes(pair.a, pair.b))
  const found = await firstDifferences(stored, options.pool, (bytes) => tracker.step('', bytes))
  const known = await valuesOfPairs(named.pairs, stored, found, options, (bytes) => tracker.step('', bytes))
  for (const [i, pair] of named.pairs.entries()) {
    const [firstByte, values] = [found.get(i), known.get(i)]
    const isRead = firstByte !== undefined || values !== undefined
    const watch = tracker.step(pair.a.name, isRead ? 0 : sizeOf([pair.a, pair.b]))
    const difference = await compareTensors(pair.a, pair.b, { ...options, ...watch, firstByte, values })
    if (difference) changed.push(difference)
  }
  const close = changed.filter((each) => each.close).length
  return {
    differences: [
      ...onlyA.map((tensor) => ({ name: tensor.name, change: 'missing' as const, a: sideOf(tensor) })),
      ...onlyB.map((tensor) => ({ name: tensor.name, change: 'extra' as const, b: sideOf(tensor) })),
      ...changed.sort(worstFirst(options)),
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

/**
 * How the numbers of pairs differ whose bytes are known to, by the index of the pair, where several threads find that out sooner. Each pair is
 * compared by one of them.
 */
async function valuesOfPairs(
  pairs: Matches['pairs'],
  stored: readonly (PayloadPair | undefined)[],
  found: ReadonlyMap<number, number>,
  options: TensorOptions,
  watch: (bytes: number) => Watch,
): Promise<ReadonlyMap<number, ValueDifference | string>> {
  const { pool, measure, tolerance } = options
  const known = new Map<number, ValueDifference | string>()
  if (measure === false && tolerance === undefined) return known
  const isWanted = ({ a, b }: Matches['pairs'][number], i: number): boolean =>
    a.data !== null && b.data !== null && formatDims(a) === formatDims(b) && (found.get(i) ?? (stored[i] ? -1 : 0)) >= 0
  const wanted = pairs.flatMap((pair, index) => (isWanted(pair, index) ? [{ ...pair, index }] : []))
  const values = wanted.reduce((sum, { a }) => sum + (countElements(a.shape) ?? 0), 0)
  if (wanted.length < 2 || !isWorthComputing(pool, values * valueCosts.compare)) return known
  const { signal, advance } = watch(
    sizeOf(wanted.filter(({ index }) => !found.has(index)).flatMap(({ a, b }) => [a, b])),
  )
  const compared = runMixed(wanted, {
    ...{ pool, signal, onAdvance: advance },
    job: ({ a, b }) => valuesJob(a, b, options),
    here: ({ a, b }, stop) => compareValues(a, b, { ...options, signal: stop, advance }),
  })
  let place = 0
  for await (const each of compared) known.set(wanted[place++]!.index, each as ValueDifference | string)
  return known
}

function sizeOf(tensors: Iterable<Tensor>): number {
  let size = 0
  for (const { data } of tensors) size += data?.byteLength ?? 0
  return size
}

/** Close tensors come last; within one kind of change, the largest difference comes first. */
function worstFirst({ metric }: ToleranceOptions): (a: TensorDifference, b: TensorDifference) => number {
  const compare = (x: number, y: number): number => (x < y ? -1 : x > y ? 1 : 0)
  const severityOf = ({ values }: TensorDifference): number => (values ? severity(values, metric) : -Infinity)
  return (a, b) =>
    compare(a.close ? 1 : 0, b.close ? 1 : 0) ||
    compare(tensorChanges.indexOf(a.change), tensorChanges.indexOf(b.change)) ||
    compare(severityOf(a), severityOf(b))
}

interface Tracker {
  /** Starts a step of `size` bytes, however many of them are actually read. The steps before it count as done. */
  step(path: string, size: number): Watch
}

function trackProgress(total: number, { signal, onProgress }: ProgressOptions): Tracker {
  let end = 0
  return {
    step(path, size) {
      let done = end
      end += size
      const last = end
      onProgress?.({ done, total, path })
      return {
        signal,
        advance(bytes) {
          done = Math.min(done + bytes, last)
          onProgress?.({ done, total, path })
        },
      }
    },
  }
}
