// How often values occur, on a logarithmic axis, so that a single outlier shows. The shaded range is what the colours span.
import { useEffect, useRef } from 'preact/hooks'
import type { SampleStats } from 'tare'
import type { Scale } from 'tare/kit'
import type uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { shortCount, valueText } from '../../../parts/format.js'
import { useSize } from '../../../parts/use-size.js'
import { isDark } from '../../../state/theme.js'

export function Histogram({ stats, scale }: { readonly stats: SampleStats; readonly scale: Scale | undefined }) {
  const room = useRef<HTMLDivElement>(null)
  const size = useSize(room)
  const dark = isDark()
  const { min, max, histogram } = stats
  useEffect(() => {
    if (!size || size.width === 0 || !room.current || min === null || max === null) return
    let plot: uPlot | undefined
    let isGone = false
    // The map does not wait for it, and is there without it: the package fails to start under a locale that browsers do not know.
    import('uplot').then(
      ({ default: Plot }) => {
        if (!isGone) plot = new Plot(optionsFor(Plot, size.width, stats, scale, dark), dataOf(stats), room.current!)
      },
      () => {},
    )
    return () => {
      isGone = true
      plot?.destroy()
    }
  }, [size?.width, stats, scale?.low, scale?.high, dark])
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
    </section>
  )
}

function dataOf({ min, max, histogram }: SampleStats): uPlot.AlignedData {
  const step = (max! - min!) / histogram.length
  // A logarithmic axis has no 0.
  return [histogram.map((_, i) => min! + (i + 0.5) * step), histogram.map((count) => (count === 0 ? null : count))]
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
    scales: { x: { time: false, range: [stats.min!, stats.max!] }, y: { distr: 3, range: [0.5, 2 * highest] } },
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
    },
  }
}
