// Adds the figures of runs (JSON lines of `fuzz/run.mjs --json`) to those in docs/reliability.md; with --fresh they replace them.
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { putTable, rowsOf } from './put-table.mjs'

const { values, positionals } = parseArgs({ allowPositionals: true, options: { fresh: { type: 'boolean' } } })
const totals = new Map()
if (!values.fresh)
  for (const [target, ...figures] of rowsOf('fuzz')) {
    const [inputs, opened, refused, rate, broken] = figures.map((text) => Number(text.replaceAll(',', '')))
    totals.set(target, { inputs, opened, refused, cpuSeconds: inputs / rate, broken })
  }
for (const file of positionals) {
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    if (!line.startsWith('{')) continue
    const { target, inputs, opened, refused, cpuSeconds, broken } = JSON.parse(line)
    const sum = totals.get(target) ?? { inputs: 0, opened: 0, refused: 0, cpuSeconds: 0, broken: 0 }
    totals.set(target, {
      inputs: sum.inputs + inputs,
      opened: sum.opened + opened,
      refused: sum.refused + refused,
      cpuSeconds: sum.cpuSeconds + cpuSeconds,
      broken: sum.broken + broken.length,
    })
  }
}
if (positionals.length === 0 || totals.size === 0) {
  console.error('usage: node fuzz/page.mjs [--fresh] RUN.jsonl...')
  process.exit(2)
}
const number = (value) => Math.round(value).toLocaleString('en-US')
putTable(
  'fuzz',
  [
    '| format or document | inputs | opened | refused | inputs per second of CPU | promises broken |',
    '| --- | ---: | ---: | ---: | ---: | ---: |',
  ],
  [...totals].map(([target, { inputs, opened, refused, cpuSeconds, broken }]) => {
    const figures = [inputs, opened, refused, inputs / cpuSeconds, broken].map(number)
    return `| ${target} | ${figures.join(' | ')} |`
  }),
)
