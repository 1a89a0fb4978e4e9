// Start-up: `tare --version` against an empty Node program.
import { cli, race, row, run } from '../harness.mjs'

export default async function start() {
  const times = await race(
    async () => run(process.execPath, [cli, '--version']),
    async () => run(process.execPath, ['-e', '0']),
    15,
  )
  return [row('tare --version', times, { against: 'node -e 0', goal: 1 / 1.5 })]
}
