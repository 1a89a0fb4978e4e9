// Writes the figures of a run (JSON lines of `fuzz/run.mjs --json`) into docs/reliability.md. Lines of several runs add up.
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const page = fileURLToPath(new URL('../docs/reliability.md', import.meta.url))
const totals = new Map()
for (const file of process.argv.slice(2)) {
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    if (!line.startsWith('{')) continue
    const { format, inputs, opened, refused, broken } = JSON.parse(line)
    const sum = totals.get(format) ?? { inputs: 0, opened: 0, refused: 0, broken: 0 }
    totals.set(format, {
      inputs: sum.inputs + inputs,
      opened: sum.opened + opened,
      refused: sum.refused + refused,
      broken: sum.broken + broken,
    })
  }
}
if (totals.size === 0) {
  console.error('usage: node fuzz/page.mjs RUN.jsonl...')
  process.exit(2)
}
const number = (value) => value.toLocaleString('en-US')
const rows = [...totals].map(
  ([format, { inputs, opened, refused, broken }]) =>
    `| ${format} | ${number(inputs)} | ${number(opened)} | ${number(refused)} | ${number(broken)} |`,
)
const table = [
  '| format | inputs | opened | refused | promises broken |',
  '| --- | ---: | ---: | ---: | ---: |',
  ...rows,
].join('\n')
const text = readFileSync(page, 'utf8')
writeFileSync(page, text.replace(/<!-- fuzz -->[\s\S]*<!-- \/fuzz -->/, `<!-- fuzz -->\n${table}\n<!-- /fuzz -->`))
