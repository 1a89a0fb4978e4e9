// Every room defines the codes it can report in one table, next to the code that reports them. Programs match on codes, so a code is never
// reused for another meaning. `docs/codes.md` is generated from these tables.
import type { Code, Severity } from './finding.js'

interface Row {
  readonly severity: Severity
  readonly text: string
}

/** Codes by the part of them behind the room. */
export type CodeTable<K extends string = string, Room extends string = string> = {
  readonly [Key in K]: Code<`${Room}/${Key}`>
}

/** The codes of a table, as a type. */
export type CodeOf<Table> = Table extends Readonly<Record<string, Code>> ? Table[keyof Table]['code'] : never

type Joined<Tables extends readonly CodeTable[]> = {
  readonly [C in CodeOf<Tables[number]>]: Code<C>
}

/** Several tables as one, by full codes, since the keys of two tables can be the same. */
export function joinCodes<const Tables extends readonly CodeTable[]>(...tables: Tables): Joined<Tables> {
  const codes = tables.flatMap((table) => Object.values(table))
  return Object.fromEntries(codes.map((code) => [code.code, code])) as Joined<Tables>
}

export const error = (text: string): Row => ({ severity: 'error', text })
export const warning = (text: string): Row => ({ severity: 'warning', text })
export const note = (text: string): Row => ({ severity: 'note', text })

/** Names each row `room/key`, so that a code says where it is reported. */
export function defineCodes<Room extends string, K extends string>(
  room: Room,
  rows: Record<K, Row>,
): CodeTable<K, Room> {
  const table = {} as { [Key in K]: Code<`${Room}/${Key}`> }
  for (const key of Object.keys(rows) as K[]) table[key] = { code: `${room}/${key}`, ...rows[key] }
  return table
}
