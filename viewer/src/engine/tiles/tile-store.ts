// The tiles of one plane: asked for in bands, kept as numbers, let go of when memory is short. Whatever is not in view any more is cancelled.
import type { CellFigure } from 'tare/kit'
import type { Layer } from '../rooms/tensor/layers.js'
import type { TensorRef } from '../rooms/tensor/tensor.js'
import type { Plane, Tile } from '../rooms/tensor/tiles.js'
import { askTensor } from '../tensor-workers.js'
import { isAborted, priorities } from '../wire.js'
import { bandsOf, type TileRange, tileKey } from './layout.js'
import { LruCache } from './lru.js'

export interface TileSource {
  readonly tensor: TensorRef
  readonly plane: Plane
  readonly layer: Layer
  /** What cells of more than one value show. */
  readonly figure: CellFigure
}

/** All tiles of the page together. */
const budget = 96 * 2 ** 20

const cache = new LruCache<Tile>(budget)

export const planeKey = ({ tensor, plane, layer, figure }: TileSource): string =>
  `${tensor.model}/${tensor.index}/${layer}/${figure}/${plane.axes?.join() ?? ''}/${plane.fixed?.join() ?? ''}`

/** With the picture of it, which has four bytes a cell as well. */
const bytesOf = ({ numbers }: Tile): number => 2 * numbers.byteLength

export class TileStore {
  readonly #source: TileSource
  readonly #key: string
  readonly #onTile: () => void
  readonly #onError: (error: unknown) => void
  readonly #asked = new Map<string, { readonly abort: AbortController; readonly keys: readonly string[] }>()

  constructor(source: TileSource, onTile: () => void, onError: (error: unknown) => void) {
    this.#source = source
    this.#key = planeKey(source)
    this.#onTile = onTile
    this.#onError = onError
  }

  get(level: number, row: number, column: number): Tile | undefined {
    return cache.get(tileKey(this.#key, level, row, column))
  }

  /** Are there requests without an answer? */
  get isLoading(): boolean {
    return this.#asked.size > 0
  }

  /** Makes sure that these tiles come, and that no others do. */
  want(range: TileRange): void {
    const keyOf = (row: number, column: number): string => tileKey(this.#key, range.level, row, column)
    const wanted = new Set<string>()
    for (let row = range.firstRow; row < range.endRow; row++)
      for (let column = range.firstColumn; column < range.endColumn; column++) wanted.add(keyOf(row, column))
    const coming = new Set<string>()
    for (const [name, { abort, keys }] of this.#asked) {
      if (keys.some((key) => wanted.has(key))) for (const key of keys) coming.add(key)
      else {
        abort.abort()
        this.#asked.delete(name)
      }
    }
    const isMissing = (row: number, column: number): boolean => {
      const key = keyOf(row, column)
      return !cache.has(key) && !coming.has(key)
    }
    const middle = (range.firstRow + range.endRow - 1) / 2
    // The newest request is served first, so the nearest band is asked for last.
    for (const band of bandsOf(range, isMissing, middle).toReversed()) {
      const columns = Array.from({ length: band.endColumn - band.firstColumn }, (_, i) => band.firstColumn + i)
      const keys = columns.map((column) => keyOf(band.row, column))
      const abort = new AbortController()
      this.#asked.set(keys[0]!, { abort, keys })
      askTensor(
        'tiles',
        { ...this.#source, level: range.level, ...band },
        { signal: abort.signal, priority: priorities.view },
      )
        .then((tiles) => {
          for (const [i, tile] of tiles.entries()) cache.set(keys[i]!, tile, bytesOf(tile))
        })
        .catch((error: unknown) => {
          if (!isAborted(error)) this.#onError(error)
        })
        .finally(() => {
          if (this.#asked.get(keys[0]!)?.abort === abort) this.#asked.delete(keys[0]!)
          this.#onTile()
        })
    }
  }

  close(): void {
    for (const { abort } of this.#asked.values()) abort.abort()
    this.#asked.clear()
  }
}
