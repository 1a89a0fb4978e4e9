// The bytes of slots from any offset on.
import { failWith, writeCodes } from '../../errors/index.js'
import { type Slot, slotLength } from '../../model/layout.js'
import type { Payload } from '../../model/payload.js'
import { payloadRange } from '../../model/payload-range.js'
import { bytesOf, readRange, slotRuns } from '../read-slots.js'
import { type SlotTable, slotAt, startOf } from './slot-table.js'

interface MakeOptions {
  /** For messages. */
  readonly file: string
  readonly window: number
  readonly signal: AbortSignal | undefined
}

/** The bytes from `from` to `to`, between which there is no late slot. A chunk is valid only until the next one is requested. */
export async function* slotBytes(
  table: SlotTable,
  from: number,
  to: number,
  options: MakeOptions,
): AsyncGenerator<Uint8Array, void, void> {
  const first = slotAt(table, from)
  const slots = table.slots.slice(first, slotAt(table, to - 1) + 1).map(withoutExtras)
  let start = startOf(table, first)
  for (const run of slotRuns(slots)) {
    const near = run.range && (await readRange(run.range, options.signal))
    for (const slot of run.slots) {
      const end = start + slotLength(slot)
      const [low, high] = [Math.max(from, start) - start, Math.min(to, end) - start]
      start = end
      if (low >= high) continue
      if (slot.kind === 'bytes') yield slot.bytes.subarray(low, high)
      else if (slot.kind === 'zeros') yield* zeros(high - low, options.window)
      else if (slot.kind === 'payload' && near) yield bytesOf(slot.payload, run.range!, near).subarray(low, high)
      else if (slot.kind === 'payload') yield* payloadBytes(slot.payload, low, high, { ...options, path: slot.path })
    }
  }
}

const withoutExtras = (slot: Slot): Slot =>
  slot.kind === 'payload' && slot.plain ? { kind: 'payload', path: slot.path, payload: slot.plain } : slot

function* zeros(length: number, window: number): Generator<Uint8Array, void, void> {
  const bytes = new Uint8Array(Math.min(length, window))
  for (let left = length; left > 0; left -= bytes.byteLength) yield bytes.subarray(0, left)
}

async function* payloadBytes(
  payload: Payload,
  from: number,
  to: number,
  { file, path, window, signal }: MakeOptions & { readonly path: string },
): AsyncGenerator<Uint8Array, void, void> {
  let given = 0
  for await (const bytes of payloadRange(payload, from, to - from).chunks(window, signal)) {
    const part = bytes.subarray(0, to - from - given)
    given += part.byteLength
    if (part.byteLength > 0) yield part
    if (given === to - from) return
  }
  const message = `the payload declared ${payload.byteLength} bytes, and gave ${given} of those from ${from} to ${to}`
  failWith(writeCodes['layout-mismatch'], { file, path, message })
}
