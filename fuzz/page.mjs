// Writes the figures of runs (JSON lines of `fuzz/run.mjs --json`) into docs/reliability.md. Lines of several runs add up.
import { readFileSync } from 'node:fs'
import { putTable } from './put-table.mjs'

const totals = new Map()
for (const file of process.argv.slice(2)) {
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
if (totals.size === 0) {
  console.error('usage: node fuzz/page.mjs RUN.jsonl...')
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
