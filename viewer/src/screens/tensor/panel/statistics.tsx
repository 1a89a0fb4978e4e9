import { quantileShares, type SampleStats } from 'tare'
import { countLabel, valueText } from '../../../parts/format.js'

export function Statistics({ stats }: { readonly stats: SampleStats }) {
  const { count, total, isSample, nan, infinite, zero, min, max, mean, std, quantiles } = stats
  const median = quantiles[quantileShares.indexOf(0.5)]
  const rows: readonly (readonly [string, string])[] = [
    ['Min', valueText(min)],
    ['Max', valueText(max)],
    ['Mean', valueText(mean)],
    ['Deviation', valueText(std)],
    ['Median', valueText(median)],
    ['Zeros', `${Number(((100 * zero) / Math.max(1, count)).toPrecision(3))} %`],
    ...(nan > 0 ? [['NaN', countLabel(nan)] as const] : []),
    ...(infinite > 0 ? [['Infinite', countLabel(infinite)] as const] : []),
  ]
  return (
    <section class="statistics">
      <h2>Statistics</h2>
      <dl>
        {rows.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      <p class="faint">
        {isSample ? `From ${countLabel(count)} of ${countLabel(total)} values` : `All ${countLabel(total)} values`}
      </p>
    </section>
  )
}
