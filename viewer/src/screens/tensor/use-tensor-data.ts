// What is loaded for a tensor, in the order in which it helps: figures of a sample, a first look, the whole overview, norms of rows and columns.
import { useEffect, useState } from 'preact/hooks'
import type { SampleStats } from 'tare'
import { joinOverviews, overviewParts } from '../../engine/overview-parts.js'
import type { TensorInfo } from '../../engine/rooms/tensor/tensor.js'
import type { Norms, Overview, Plane } from '../../engine/rooms/tensor/tiles.js'
import { askTensor, partsAtOnce } from '../../engine/tensor-workers.js'
import { canHaveNorms, overviewLevel } from '../../engine/tiles/layout.js'
import { isAborted, type Progress, priorities } from '../../engine/wire.js'

export interface TensorData {
  readonly stats?: SampleStats | undefined
  readonly overview?: Overview | undefined
  /** The level whose cells the overview has. */
  readonly overviewLevel: number
  readonly norms?: Norms | undefined
  /** From 0 to 1, while the whole tensor is read. */
  readonly progress?: number | undefined
  readonly error?: unknown
}

/** A first look is worth its reads only where the whole takes longer. */
const minForPreview = 2 ** 21

export function useTensorData(info: TensorInfo, plane: Plane): TensorData {
  const { rows, columns } = plane
  const level = overviewLevel(plane)
  const [data, setData] = useState<TensorData>({ overviewLevel: level })
  const key = JSON.stringify([info.ref.model, info.ref.index, plane])
  useEffect(() => {
    const abort = new AbortController()
    const { signal } = abort
    const add = (more: Partial<TensorData>): void => {
      if (!signal.aborted) setData((before) => ({ ...before, ...more }))
    }
    setData({ overviewLevel: level })
    void load().catch((error: unknown) => {
      if (!isAborted(error)) add({ error, progress: undefined })
    })
    return () => abort.abort()

    async function load(): Promise<void> {
      const tensor = info.ref
      const size = { width: Math.ceil(columns / 2 ** level), height: Math.ceil(rows / 2 ** level) }
      const view = { signal, priority: priorities.view }
      const isLarge = rows * columns > minForPreview
      // The picture first, then its figures: both are under way at once.
      const first = askTensor('overview', { tensor, plane, ...size, isQuick: isLarge }, view)
      const histogram = askTensor('histogram', { tensor, bins: 128 }, view).then((stats) => add({ stats }))
      histogram.catch(() => {})
      const look = await first
      add({ overview: look, progress: isLarge ? 0 : undefined, norms: look.norms })
      if (isLarge) {
        const overview = await wholeOverview(size)
        add({ overview, progress: undefined, norms: overview.norms })
      }
      await histogram
      if (!canHaveNorms(plane)) return
      add({ norms: await askTensor('norms', { tensor, plane }, { signal, priority: priorities.background }) })
    }

    /** By as many workers as there are, where the file has row after row. */
    async function wholeOverview({ width, height }: { readonly width: number; readonly height: number }) {
      const { ref: tensor, group } = info
      const parts = overviewParts(rows, height, tensor.place && group ? partsAtOnce : 1)
      const read = parts.map(() => 0)
      const answers = parts.map((part, i) => {
        const onProgress = ({ done }: Progress): void => {
          read[i] = done
          add({ progress: read.reduce((sum, each) => sum + each, 0) / (rows * columns) })
        }
        return askTensor('overview', { tensor, plane, width, ...part, isQuick: false }, { signal, onProgress })
      })
      return joinOverviews(await Promise.all(answers))
    }
  }, [key])
  return data
}
