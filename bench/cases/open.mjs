// Opening and listing 60,000 tensors with every structural check, against a bare JSON.parse of the same header.
import { isolated, row } from '../harness.mjs'

export default async function open({ quick }) {
  const rows = []
  for (const count of quick ? [10_000] : [6_000, 60_000, 600_000]) {
    const { memory, ...times } = isolated('open-header.mjs', [count])
    rows.push(
      row(`open ${count} tensors (safetensors)`, times, {
        against: 'JSON.parse',
        goal: count === 60_000 ? 1 / 1.2 : undefined,
        memory,
      }),
    )
  }
  return rows
}
