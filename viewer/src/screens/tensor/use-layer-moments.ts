// The range of what the map shows. Values have statistics of their own; of codes, scales and offsets a few tiles from over the whole tensor are looked at.
import { useEffect, useState } from 'preact/hooks'
import type { SampleStats } from 'tare'
import { type Moments, momentsOf } from 'tare/kit'
import type { Layer } from '../../engine/rooms/tensor/layers.js'
import type { TensorInfo } from '../../engine/rooms/tensor/tensor.js'
import type { Plane } from '../../engine/rooms/tensor/tiles.js'
import { askTensor } from '../../engine/tensor-workers.js'
import { tileSize } from '../../engine/tiles/layout.js'
import { isAborted } from '../../engine/wire.js'

export function useLayerMoments(
  info: TensorInfo,
  plane: Plane,
  layer: Layer,
  stats: SampleStats | undefined,
): Moments | undefined {
  const [found, setFound] = useState<Moments>()
  useEffect(() => {
    setFound(undefined)
    if (layer === 'values') return
    const abort = new AbortController()
    void look(abort.signal).catch((error: unknown) => {
      if (!isAborted(error)) setFound({ min: 0, max: 0, mean: 0, std: 0 })
    })
    return () => abort.abort()

    async function look(signal: AbortSignal): Promise<void> {
      const [down, across] = [Math.ceil(plane.rows / tileSize), Math.ceil(plane.columns / tileSize)]
      const numbers: number[] = []
      for (const share of [0, 0.5, 0.999]) {
        const row = Math.floor(share * down)
        const firstColumn = Math.floor(share * across)
        const place = { level: 0, row, firstColumn, endColumn: firstColumn + 1 }
        const tiles = await askTensor('tiles', { tensor: info.ref, plane, layer, figure: 'mean', ...place }, { signal })
        for (const tile of tiles) for (const value of tile.numbers) numbers.push(value)
      }
      setFound(momentsOf(numbers))
    }
  }, [info, plane, layer])
  if (layer !== 'values') return found
  if (!stats) return undefined
  const { min, max, mean, std } = stats
  return { min: min ?? 0, max: max ?? 0, mean: mean ?? 0, std: std ?? 0 }
}
