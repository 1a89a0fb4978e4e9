// The treemap in colours of the error against another model: what stands out in yellow lost most. Errors come in batches, the largest boxes first.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { colorMapNamed, colorTable, inkOn } from 'tare/kit'
import type { TypeColor } from '../../colors/types.js'
import type { TensorError } from '../../engine/rooms/tensor-errors.js'
import type { TreemapBox } from '../../engine/rooms/treemap.js'
import { ask } from '../../engine/session.js'
import { priorities } from '../../engine/wire.js'

interface ErrorColors {
  /** In dB, of those that are known and not equal; undefined where there is none. */
  readonly worst: number | undefined
  readonly best: number | undefined
  readonly isComplete: boolean
  color(name: string): TypeColor
  /** In words, for those who see no colours. */
  text(name: string): string
}

const batch = 16
/** In dB. Errors closer together than this do not get the whole scale: what hardly differs should look alike. */
const narrowest = 6
const plain: TypeColor = { paper: 'var(--paper-3)', ink: 'var(--ink)' }
const table = colorTable(colorMapNamed('blue-yellow')!)

/** 0 is the best. */
function colorAt(place: number): TypeColor {
  const at = 4 * Math.round(255 * Math.min(1, Math.max(0, place)))
  const [red, green, blue] = [table[at]!, table[at + 1]!, table[at + 2]!] as const
  const ink = inkOn([red, green, blue])
  return { paper: `rgb(${red} ${green} ${blue})`, ink: `rgb(${ink.join(' ')})` }
}

/** Undefined where no other model is chosen. */
export function useErrorColors(
  model: number,
  other: number | undefined,
  boxes: readonly TreemapBox[],
): ErrorColors | undefined {
  const [known, setKnown] = useState<ReadonlyMap<string, TensorError>>(new Map())
  const names = useMemo(
    () => boxes.toSorted((a, b) => b.bytes - a.bytes).flatMap(({ tensor }) => tensor?.name ?? []),
    [boxes],
  )
  useEffect(() => setKnown(new Map()), [model, other])
  useEffect(() => {
    if (other === undefined) return
    const abort = new AbortController()
    const options = { signal: abort.signal, priority: priorities.question }
    void (async () => {
      const missing = names.filter((name) => !known.has(name))
      for (let i = 0; i < missing.length; i += batch) {
        const some = missing.slice(i, i + batch)
        const found = await ask('tensorErrors', { model, other, names: some }, options)
        if (abort.signal.aborted) return
        setKnown((before) => new Map([...before, ...some.map((name, at) => [name, found[at]] as const)]))
      }
    })().catch(() => {})
    return () => abort.abort()
  }, [model, other, names])
  return useMemo(() => {
    if (other === undefined) return undefined
    const numbers = [...known.values()].filter((each) => typeof each === 'number')
    const [worst, best] = numbers.length === 0 ? [] : [Math.min(...numbers), Math.max(...numbers)]
    const text = (name: string): string => {
      const error = known.get(name)
      if (!known.has(name)) return '…'
      return error === undefined ? 'only here' : error === null ? 'equal' : `${error.toFixed(1)} dB`
    }
    const color = (name: string): TypeColor => {
      const error = known.get(name)
      if (error === null) return colorAt(0)
      if (error === undefined || worst === undefined) return plain
      return colorAt(0.15 + (0.85 * (best! - error)) / Math.max(narrowest, best! - worst))
    }
    return { worst, best, isComplete: names.every((name) => known.has(name)), color, text }
  }, [known, other, names])
}

export function ErrorLegend({ worst, best, isComplete }: ErrorColors) {
  const canvas = useRef<HTMLCanvasElement>(null)
  useEffect(() => {
    const context = canvas.current?.getContext('2d')
    if (!context) return
    for (let i = 0; i < 120; i++) {
      context.fillStyle = colorAt(i / 119).paper
      context.fillRect(i, 0, 1, 1)
    }
  }, [])
  const range = worst === undefined ? 'all equal' : `best ${best!.toFixed(1)} dB, worst ${worst.toFixed(1)} dB`
  return (
    <p class="error-legend">
      <span class="faint">equal</span>
      <canvas ref={canvas} width={120} height={1} role="presentation" />
      <span class="faint">{isComplete ? range : 'comparing samples…'}</span>
    </p>
  )
}
