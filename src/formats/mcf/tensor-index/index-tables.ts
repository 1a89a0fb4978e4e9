// The three tables of a TensorIndex: where they are, and their bytes. Entries come one after another and are read in windows; they point
// anywhere into the dimensions and names, so these are read as a whole.
import { type ByteSource, Cursor, checkedAdd, defaultWindow, type StructValues, toSafe } from '../../../bytes/index.js'
import { MovingWindow } from '../../../bytes/moving-window.js'
import type { Code } from '../../../errors/index.js'
import type { ReadContext } from '../../../model/index.js'
import { codes } from '../codes.js'
import type { Section } from '../sections.js'
import { indexEntry, indexHeader } from '../structs.js'

const path = 'tensor_index'

/** Where the tables begin, counted from the start of the section. */
interface Places {
  readonly entries: number
  readonly dims: number
  readonly strings: number
  readonly stringsSize: number
}

export class IndexTables {
  readonly section: Section
  readonly head: StructValues<typeof indexHeader>
  readonly places: Places
  readonly dims: Cursor
  readonly names: Cursor
  /** Over the entries that are at hand. */
  entries: Cursor
  readonly #window: MovingWindow
  readonly #context: ReadContext

  private constructor(
    section: Section,
    places: Places,
    window: MovingWindow,
    context: ReadContext,
    { head, dims, names }: Pick<IndexTables, 'head' | 'dims' | 'names'>,
  ) {
    this.section = section
    this.head = head
    this.places = places
    this.dims = dims
    this.names = names
    this.entries = new Cursor(new Uint8Array(0), context.report)
    this.#window = window
    this.#context = context
  }

  /** The section has room for the header of the index. */
  static async open(source: ByteSource, section: Section, context: ReadContext): Promise<IndexTables> {
    const { report, extents, signal } = context
    const end = section.offset + section.size
    const window = new MovingWindow(source, end, signal)
    await window.reach(section.offset, Math.min(section.size, defaultWindow))
    const cursor = new Cursor(window.from(section.offset, end), report, { base: section.offset, extents, path: [path] })
    const head = indexHeader.read(cursor)
    const places = placeTables(head, cursor, section)
    const table = async (offset: number, length: number): Promise<Cursor> => {
      const base = section.offset + offset
      const known = window.from(base, base + length)
      const bytes = known.byteLength === length ? known : await source.read(base, length, { signal })
      return new Cursor(bytes, report, { base, extents, path: [path] })
    }
    const dims = await table(places.dims, 8 * head.dimsCount)
    const names = await table(places.strings, places.stringsSize)
    return new IndexTables(section, places, window, context, { head, dims, names })
  }

  offsetOf(index: number): number {
    return this.section.offset + this.places.entries + index * indexEntry.size
  }

  /** Whether the entry is at hand; the cursor stands at it. Otherwise `move` brings it. */
  isAtHand(index: number): boolean {
    return this.entries.offset === this.offsetOf(index) && this.entries.remaining >= indexEntry.size
  }

  async move(index: number): Promise<void> {
    const base = this.offsetOf(index)
    const { report, extents } = this.#context
    await this.#window.reach(base, indexEntry.size)
    const bytes = this.#window.from(base, this.offsetOf(this.head.tensorCount))
    this.entries = new Cursor(bytes, report, { base, extents, path: [path] })
  }
}

function placeTables(head: StructValues<typeof indexHeader>, cursor: Cursor, section: Section): Places {
  const fail = (code: Code, field: keyof typeof head & string, name: string, message: string): never =>
    cursor.report.fail(code, {
      offset: section.offset + indexHeader.offsetOf(field),
      path: `tensor_index.${name}`,
      message,
    })
  if (head.version !== 1) fail(codes['index-version'], 'version', 'version', `version ${head.version}, only 1 is known`)
  if (head.tensorCount === 0) fail(codes['index-count-zero'], 'tensorCount', 'tensor_count', 'no tensors are listed')
  // Sums are made of safe numbers only, so an offset near 2^64 cannot wrap around as it does in the reference.
  const place = (offset: bigint, size: number | undefined, code: Code, field: keyof typeof head & string): number => {
    const start = toSafe(offset)
    const end = start === undefined || size === undefined ? undefined : checkedAdd(start, size)
    if (start !== undefined && end !== undefined && end <= section.size) return start
    const name = field.replace('Off', '_off')
    const message = `${size ?? 'more than 2^53'} bytes from ${offset} on, the section has ${section.size}`
    return fail(code, field, name, message)
  }
  const entrySize = head.tensorCount * indexEntry.size
  const stringsSize = toSafe(head.stringsSize)
  return {
    entries: place(head.entriesOff, entrySize, codes['index-entries-out-of-bounds'], 'entriesOff'),
    dims: place(head.dimsOff, head.dimsCount * 8, codes['index-dims-out-of-bounds'], 'dimsOff'),
    strings: place(head.stringsOff, stringsSize, codes['index-strings-out-of-bounds'], 'stringsOff'),
    stringsSize: stringsSize!,
  }
}
