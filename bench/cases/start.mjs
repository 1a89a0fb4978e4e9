import { cli, run, tare } from '../harness/harness.mjs'
import { race } from '../harness/measure.mjs'
import { row } from '../harness/rows.mjs'

export const topic = 'Start-up and damaged files'
export const about = 'tare --version against an empty Node program'

export default async function* start({ pick }) {
  const { memory } = await tare(['--version'])
  const times = await race(
    () => run(process.execPath, [cli, '--version']),
    () => run(process.execPath, ['-e', '0']),
    pick(20, 8),
  )
  yield row('tare --version', { ...times, memory }, { against: 'node -e 0', goal: 1 / 1.5 })
}
