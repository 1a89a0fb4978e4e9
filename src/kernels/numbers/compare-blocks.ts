// Two lists of f32 compared with the compiled kernel, block by block.
import { type NumbersModule, numbersModule } from './module.js'
import { blockCount } from './stats/sum.js'

const blockBytes = 4 * blockCount
/** Few, so that the largest share found so far reaches the kernel soon. */
const maxBlocks = 16
const perBlock = 10

export interface BlockDistance {
  /** Σ|a−b|, Σ(a−b)², Σa², Σb², Σab, each in the order of the values. */
  readonly apart: number
  readonly error: number
  readonly before: number
  readonly after: number
  readonly product: number
  /** Valid where `apart` is neither 0 nor infinite nor NaN. */
  readonly maxAbs: number
  readonly differing: number
  /** Farther apart than abs + rel · max(|a|, |b|). */
  readonly beyond: number
  /** Some are farther apart than the given share of max(|a|, |b|). */
  readonly exceeds: boolean
}

interface Limits {
  readonly abs: number
  readonly rel: number
  /** The current value of the share that `exceeds` compares with. */
  share(): number
}

/** Visits whole blocks of two lists of equal length. Returns how many values those have; the caller compares the rest. */
export function compareBlocks(
  a: Float32Array,
  b: Float32Array,
  { abs, rel, share }: Limits,
  visit: (first: number, block: BlockDistance) => void,
): number {
  const blocks = Math.floor(a.length / blockCount)
  const module = blocks === 0 ? undefined : numbersModule()
  if (!module) return 0
  const { run, totals } = module
  for (let done = 0; done < blocks; done += maxBlocks) {
    const count = Math.min(maxBlocks, blocks - done)
    const [first, second] = [near(module, a, done, count, module.tile), near(module, b, done, count, module.secondTile)]
    run.compareBlocks(first, second, count, abs, rel, share())
    for (let i = 0; i < count; i++) visit((done + i) * blockCount, blockAt(totals, i * perBlock))
  }
  return blocks * blockCount
}

function blockAt(totals: Float64Array, at: number): BlockDistance {
  return {
    apart: totals[at]!,
    error: totals[at + 1]!,
    before: totals[at + 2]!,
    after: totals[at + 3]!,
    product: totals[at + 4]!,
    maxAbs: totals[at + 5]!,
    differing: totals[at + 6]!,
    beyond: totals[at + 7]!,
    exceeds: totals[at + 8]! > 0,
  }
}

/** The address of some blocks; those outside the arena are copied to a tile. */
function near({ buffer }: NumbersModule, values: Float32Array, first: number, count: number, tile: Uint8Array): number {
  const offset = values.byteOffset + first * blockBytes
  if (values.buffer === buffer) return offset
  tile.set(new Uint8Array(values.buffer, offset, count * blockBytes))
  return tile.byteOffset
}
