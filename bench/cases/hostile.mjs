import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { isolated, root } from '../harness/harness.mjs'
import { limitRow } from '../harness/rows.mjs'

export const topic = 'Start-up and damaged files'
export const about =
  'verifying the damaged and hostile files of the fixtures: the slowest of them, and the memory that all take'

export default async function* hostile() {
  const formats = readdirSync(join(root, 'fixtures'), { withFileTypes: true }).filter((entry) => entry.isDirectory())
  const found = formats.map(({ name }) => isolated('work/hostile-files.mjs', [name]))
  const max = (key) => Math.max(...found.map((each) => each[key]))
  const sum = (key) => found.reduce((total, each) => total + each[key], 0)
  const note = `all of them in ${sum('total').toFixed(1)} s; one process per format`
  const work = `verify ${sum('damaged')} damaged files, the slowest`
  yield limitRow(work, { tare: max('slowest'), memory: max('memory') }, { max: 1, limit: 150e6, note })
}
