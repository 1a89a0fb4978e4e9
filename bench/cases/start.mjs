import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { cli, isolated, root, run, tare } from '../harness/harness.mjs'
import { race } from '../harness/measure.mjs'
import { limitRow, row } from '../harness/rows.mjs'

export const topic = 'Start-up and damaged files'
export const about =
  'tare --version against an empty Node program; verifying the damaged and hostile files of the fixtures: the slowest of them, and the memory that all take'

export default async function* start({ pick }) {
  const { memory } = await tare(['--version'])
  const times = await race(
    () => run(process.execPath, [cli, '--version']),
    () => run(process.execPath, ['-e', '0']),
    pick(20, 8),
  )
  yield row('tare --version', { ...times, memory }, { against: 'node -e 0', goal: 1 / 1.5 })
  yield hostileFiles()
}

function hostileFiles() {
  const formats = readdirSync(join(root, 'fixtures'), { withFileTypes: true }).filter((entry) => entry.isDirectory())
  const found = formats.map(({ name }) => isolated('work/hostile-files.mjs', [name]))
  const max = (key) => Math.max(...found.map((each) => each[key]))
  const sum = (key) => found.reduce((total, each) => total + each[key], 0)
  const note = `all of them in ${sum('total').toFixed(1)} s; one process per format`
  const work = `verify ${sum('damaged')} damaged files, the slowest`
  return limitRow(work, { tare: max('slowest'), memory: max('memory') }, { max: 1, limit: 150e6, note })
}
