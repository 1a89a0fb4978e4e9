// npm run bench [-- --json] [--only NAME] [--quick]
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './harness.mjs'

const args = process.argv.slice(2)
const asJson = args.includes('--json')
const quick = args.includes('--quick')
const only = args.includes('--only') ? args[args.indexOf('--only') + 1] : undefined

const files = readdirSync(join(root, 'bench', 'cases')).filter(
  (file) => file.endsWith('.mjs') && (!only || file.includes(only)),
)
const rows = []
for (const file of files.sort()) {
  const { default: bench } = await import(`./cases/${file}`)
  for (const each of await bench({ quick })) {
    rows.push(each)
    if (!asJson) process.stdout.write(`${format(each)}\n`)
  }
}
if (asJson) process.stdout.write(`${JSON.stringify(rows)}\n`)
if (rows.length === 0) {
  process.stderr.write('no benchmark has this name\n')
  process.exitCode = 2
}

function format(each) {
  if (each.line) return each.line
  const met =
    each.goal === undefined
      ? ''
      : each.speed >= each.goal
        ? `  (goal ${each.goal.toFixed(2)}, met)`
        : `  (goal ${each.goal.toFixed(2)}, MISSED)`
  const memory = each.memory ? `  peak ${Math.round(each.memory / 2 ** 20)} MiB` : ''
  const rate = each.bytes ? `  ${(each.bytes / each.tare / 1e9).toFixed(2)} GB/s` : ''
  return `${each.work.padEnd(44)} ${time(each.tare)}  ${each.against}: ${time(each.yardstick)}  ratio ${each.speed.toFixed(2)}${met}${rate}${memory}`
}

function time(seconds) {
  return seconds < 1 ? `${(seconds * 1000).toFixed(1)} ms` : `${seconds.toFixed(2)} s`
}
