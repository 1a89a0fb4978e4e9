// The part of a table that is at hand. It ends anywhere, but a record is only looked at when all of it is there, or all that its table has.
import { Cursor } from '../../bytes/index.js'
import type { MovingWindow } from '../../bytes/moving-window.js'
import type { ReadContext } from '../../model/index.js'
import type { Header, TableName } from './header.js'
import { dataFields, metadataFields, quantFields, sizevarFields, stringSize, tensorFields } from './structs.js'

export class TableWindow {
  /** Over what is at hand. */
  cursor: Cursor
  readonly #window: MovingWindow
  readonly #end: number
  readonly #context: ReadContext
  /** What a record takes beside its name, and whether dimensions come on top. */
  readonly #fields: number
  readonly #hasDims: boolean

  constructor(window: MovingWindow, table: TableName, { tables, version }: Header, context: ReadContext) {
    const { offset, end } = tables[table]
    this.cursor = new Cursor(new Uint8Array(0), context.report, { base: offset })
    this.#window = window
    this.#end = end
    this.#context = context
    this.#fields = fieldsOf(table, version)
    this.#hasDims = table === 'tensors'
  }

  /** From here to the end of the table. */
  get remaining(): number {
    return this.#end - this.cursor.offset
  }

  /** How many bytes of the next record are wanted, when not all of it is at hand; otherwise 0. */
  missing(): number {
    const { view, position, remaining: atHand } = this.cursor
    if (atHand >= this.remaining) return 0
    let wanted = 4
    if (atHand >= wanted) wanted = stringSize(view.getUint32(position, true)) + this.#fields
    if (atHand >= wanted && this.#hasDims) {
      const fieldsAt = position + stringSize(view.getUint32(position, true))
      wanted += 8 * view.getUint32(fieldsAt + ndimAt, true)
    }
    return atHand >= wanted ? 0 : Math.min(wanted, this.remaining)
  }

  /** Brings so many bytes, and more behind them. */
  async reach(length: number): Promise<void> {
    const base = this.cursor.offset
    const { report, extents } = this.#context
    await this.#window.reach(base, length)
    this.cursor = new Cursor(this.#window.from(base, this.#end), report, { base, extents })
  }
}

const ndimAt = tensorFields.offsetOf('ndim')

function fieldsOf(table: TableName, version: 1 | 2): number {
  if (table !== 'tensors') return table === 'sizevars' ? sizevarFields.size : metadataFields.size
  return tensorFields.size + dataFields.size + (version === 2 ? quantFields.size : 0)
}
