// How often values occur, on a logarithmic axis, so that a single outlier shows. The shaded range is what the colours span; for a
// quantized tensor, marks on the axis are the levels that the codes of one block stand for.
import { useEffect, useRef } from 'preact/hooks'
import type { SampleStats } from 'tare'
import type { Scale } from 'tare/kit'
import type uPlot from 'uplot'
import { countLabel, shortCount, valueText } from '../../../parts/format.js'
import { loadPlotter } from '../../../parts/plotter.js'
import { useSize } from '../../../parts/use-size.js'
import { isDark } from '../../../state/theme.js'

interface HistogramProps {
  readonly stats: SampleStats
  readonly scale: Scale | undefined
  /** Of a quantized tensor, and whose they are. */
  readonly levels: readonly number[] | undefined
  readonly levelsOf: string
}

export function Histogram({ stats, scale, levels, levelsOf }: HistogramProps) {
  const marked = useRef(levels)
  marked.current = levels
  const drawn = useRef<uPlot | undefined>(undefined)
  const room = useRef<HTMLDivElement>(null)
  const size = useSize(room)
  const dark = isDark()
  const { min, max, histogram } = stats
  useEffect(() => {
    if (!size || size.width === 0 || !room.current || min === null || max === null) return
    let isGone = false
    // The map does not wait for it, and is there without it.
    loadPlotter().then(
      (Plot) => {
        if (isGone) return
        const options = optionsFor(Plot, size.width, stats, scale, dark, () => marked.current ?? [])
        drawn.current = new Plot(options, dataOf(stats), room.current!)
      },
      () => {},
    )
    return () => {
      isGone = true
      drawn.current?.destroy()
      drawn.current = undefined
    }
  }, [size?.width, stats, scale?.low, scale?.high, dark])
  useEffect(() => drawn.current?.redraw(false), [levels?.join()])
  if (min === null || max === null) return null
  const top = histogram.indexOf(Math.max(...histogram))
  const at = min + ((top + 0.5) * (max - min)) / histogram.length
  return (
    <section>
      <h2>Histogram</h2>
      <div
        class="histogram"
        role="img"
        aria-label={`Values from ${valueText(min)} to ${valueText(max)}, most of them near ${valueText(at)}`}
        ref={room}
      />
      {levels && (
        <p class="faint levels">
          <i /> {countLabel(levels.length)} levels of {levelsOf}, {valueText(levels[0])} to {valueText(levels.at(-1))}
        </p>
      )}
    </section>
  )
}

function dataOf({ min, max, histogram }: SampleStats): uPlot.AlignedData {
  const step = (max! - min!) / histogram.length
  // A logarithmic axis has no 0.
  return [histogram.map((_, i) => min! + (i + 0.5) * step), histogram.map((count) => (count === 0 ? null : count))]
}

/** What the axis spans; where all values are one, that one is in its middle. */
function spanOf({ min, max }: SampleStats): uPlot.Range.MinMax {
  const margin = max! > min! ? 0 : Math.abs(min!) / 2 || 1
  return [min! - margin, max! + margin]
}

/** Few enough to be read. */
function powersOfTen(max: number): number[] {
  const last = Math.ceil(Math.log10(max))
  const step = Math.ceil(last / 4)
  return Array.from({ length: Math.floor(last / step) + 1 }, (_, i) => 10 ** (i * step))
}

function optionsFor(
  Plot: typeof uPlot,
  width: number,
  stats: SampleStats,
  scale: Scale | undefined,
  dark: boolean,
  levels: () => readonly number[],
): uPlot.Options {
  const ink = dark ? '#a6aeba' : '#565e69'
  const grid = { stroke: dark ? '#262b34' : '#e9ecf0', width: 1 }
  const bar = dark ? '#7db3ee' : '#1a5aa8'
  const font = '10px ui-sans-serif, system-ui, sans-serif'
  const highest = Math.max(...stats.histogram, 10)
  return {
    width,
    height: 150,
    legend: { show: false },
    cursor: { show: false },
    scales: { x: { time: false, range: spanOf(stats) }, y: { distr: 3, range: [0.5, 2 * highest] } },
    axes: [
      { stroke: ink, grid, ticks: grid, font, size: 24, values: (_, ticks) => ticks.map((tick) => valueText(tick)) },
      {
        stroke: ink,
        grid,
        ticks: grid,
        font,
        size: 44,
        splits: () => powersOfTen(highest),
        filter: (_, ticks) => ticks,
        values: (_, ticks) => ticks.map(shortCount),
      },
    ],
    series: [
      {},
      {
        stroke: bar,
        fill: bar,
        width: 0,
        paths: Plot.paths.bars!({ size: [1, 100], gap: 0 }),
        points: { show: false },
      },
    ],
    hooks: {
      drawClear: [
        (plot) => {
          if (!scale) return
          const [from, to] = [scale.low, scale.high].map((value) =>
            plot.valToPos(Math.max(stats.min!, Math.min(stats.max!, value)), 'x', true),
          )
          plot.ctx.fillStyle = dark ? '#1d2f45' : '#e3eefa'
          plot.ctx.fillRect(from!, plot.bbox.top, to! - from!, plot.bbox.height)
        },
      ],
      draw: [
        (plot) => {
          const { left, top, width, height } = plot.bbox
          const ratio = devicePixelRatio || 1
          plot.ctx.fillStyle = dark ? '#f5b35c' : '#b4470a'
          for (const level of levels()) {
            const at = plot.valToPos(level, 'x', true)
            if (at >= left && at <= left + width)
              plot.ctx.fillRect(Math.round(at - ratio / 2), top + height - 9 * ratio, ratio, 9 * ratio)
          }
        },
      ],
    },
  }
}
