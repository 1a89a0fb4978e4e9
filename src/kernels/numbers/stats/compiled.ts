// Both passes over f32 with the compiled kernels (assembly/numbers/stats). They take pairs of whole blocks; the plain twins take the rest, or
// everything where there is no WebAssembly, and give the same to the last bit.
import { eachAddress, type NumbersModule, numbersModule } from '../module.js'
import { countDigit, type DigitCounts } from './counts.js'
import { addDetailPlain, addMarkedF32, type Detail, settleSquares } from './detail.js'
import { blockCount } from './sum.js'
import { announce, type Summary, settleBlock, settleTops, summarizePlain } from './summary.js'

const pairBytes = 8 * blockCount
/** If every value is marked, this many pairs fill the list of found values. */
const maxPairs = 64

type Values = Float32Array | Float64Array

/** Adds a window of values to the summary: f32 for the kind `f32`, f64 for all others. */
export function summarize(summary: Summary, values: Values): void {
  const module = pairsIn(values) && numbersModule()
  const done = module ? summarizePairs(module, summary, values as Float32Array) : 0
  if (done < values.length) summarizePlain(summary, values.subarray(done))
}

/** Adds a window of values, of the same kind as in the first pass. */
export function addDetail(detail: Detail, values: Values): void {
  const module = pairsIn(values) && numbersModule()
  const done = module ? addPairs(module, detail, values as Float32Array) : 0
  if (done < values.length) addDetailPlain(detail, values.subarray(done))
}

function pairsIn(values: Values): number {
  return values instanceof Float32Array ? Math.floor(values.byteLength / pairBytes) : 0
}

/** The summary whose top digits the module counts. When another one claims the counters, this one takes its counts out first. */
let counting: Summary | undefined

function claimCounters({ run, tops: counts, found }: NumbersModule, summary: Summary): void {
  if (counting === summary) return
  if (counting) {
    settleTops(counting)
    counting.recent = undefined
  }
  settleTops(summary)
  counting = summary
  const drain = (tops: DigitCounts): void => {
    const length = 2 * run.drainTops()
    for (let i = 0; i < length; i += 2) countDigit(tops, found[i]!, found[i + 1]!)
  }
  summary.recent = { counts, drain }
}

function summarizePairs(module: NumbersModule, summary: Summary, values: Float32Array): number {
  const { run, totals, results, resultBits } = module
  const count = pairsIn(values) * 2 * blockCount
  claimCounters(module, summary)
  announce(summary, count)
  eachAddress(module, values.subarray(0, count), maxPairs * pairBytes, (address, offset, length) => {
    run.summarize(address, length / pairBytes)
    const low = Math.min(results[4]!, results[5]!, results[6]!, results[7]!)
    const high = Math.max(results[8]!, results[9]!, results[10]!, results[11]!)
    summary.secondDigits |= (resultBits[0]! | resultBits[1]! | resultBits[2]! | resultBits[3]!) & 0xffff
    summary.zero += resultBits[12]!
    summary.negZero += resultBits[13]!
    const blocks = length / 4 / blockCount
    for (let i = 0; i < blocks; i++) {
      const start = offset / 4 + i * blockCount
      settleBlock(summary, values, start, start + blockCount, totals[i]!, low, high)
    }
  })
  return count
}

/** The detail whose marks the module holds. */
let marking: Detail | undefined

function addPairs(module: NumbersModule, detail: Detail, values: Float32Array): number {
  const { run, totals, foundValues } = module
  const count = pairsIn(values) * 2 * blockCount
  if (marking !== detail) {
    module.marks.set(detail.marks)
    marking = detail
  }
  eachAddress(module, values.subarray(0, count), maxPairs * pairBytes, (address, offset, length) => {
    const marked = run.addSquares(address, length / pairBytes, detail.mean)
    const blocks = length / 4 / blockCount
    for (let i = 0; i < blocks; i++) {
      const start = offset / 4 + i * blockCount
      settleSquares(detail, values, start, start + blockCount, totals[i]!)
    }
    addMarkedF32(detail, foundValues.subarray(0, marked))
  })
  return count
}
