// Every room defines the codes it can report in one table, next to the code that reports them. Programs match on codes, so a code is never
// reused for another meaning. `docs/codes.md` is generated from these tables.
import type { Code, Severity } from './finding.js'

interface Row {
  readonly severity: Severity
  readonly text: string
}

export type CodeTable<K extends string = string> = Readonly<Record<K, Code>>

export const error = (text: string): Row => ({ severity: 'error', text })
export const warning = (text: string): Row => ({ severity: 'warning', text })
export const note = (text: string): Row => ({ severity: 'note', text })

/** Names each row `room/key`, so that a code says where it is reported. */
export function defineCodes<K extends string>(room: string, rows: Record<K, Row>): CodeTable<K> {
  const table = {} as Record<K, Code>
  for (const key of Object.keys(rows) as K[]) table[key] = { code: `${room}/${key}`, ...rows[key] }
  return table
}
