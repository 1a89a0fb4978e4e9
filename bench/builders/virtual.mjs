// Files that exist only as arithmetic, so that they can be larger than any disk: the bytes between the tensors are kept, those of the
// tensors repeat every MiB.
import { fillNormal } from './normal.mjs'

const period = 2 ** 20
const pattern = makePattern()

/** A source made of segments in ascending order, `{ at, length }` for data and `{ at, length, bytes }` for what is kept. `data` is a MiB. */
export function virtualFile(name, segments, data = pattern) {
  const last = segments.at(-1)
  return {
    name,
    size: last.at + last.length,
    async read(offset, length) {
      const bytes = new Uint8Array(length)
      await this.readInto(offset, bytes)
      return bytes
    },
    async readInto(offset, target) {
      const end = offset + target.byteLength
      for (let i = findSegment(segments, offset); segments[i]?.at < end; i++) {
        const { at, length, bytes } = segments[i]
        const [from, to] = [Math.max(at, offset), Math.min(at + length, end)]
        const part = target.subarray(from - offset, to - offset)
        if (bytes) part.set(bytes.subarray(from - at, to - at))
        else repeatPattern(data, part, from - at)
      }
    },
    async close() {},
  }
}

/** A safetensors file of f32 matrices. */
export function virtualSafetensors(size, each = 64 * 2 ** 20) {
  const count = size / each
  const entries = Array.from({ length: count }, (_, i) => [
    `layers.${i}.weight`,
    { dtype: 'F32', shape: [each / 16_384, 4096], data_offsets: [i * each, (i + 1) * each] },
  ])
  const text = new TextEncoder().encode(JSON.stringify(Object.fromEntries(entries)))
  const head = new Uint8Array(8 + Math.ceil(text.byteLength / 8) * 8).fill(32)
  new DataView(head.buffer).setBigUint64(0, BigInt(head.byteLength - 8), true)
  head.set(text, 8)
  const data = Array.from({ length: count }, (_, i) => ({ at: head.byteLength + i * each, length: each }))
  return virtualFile('virtual.safetensors', [{ at: 0, length: head.byteLength, bytes: head }, ...data])
}

/** Takes a file that is being written and keeps all but the data of its tensors; `segments` make a virtual file of it. */
export class RecordingSink {
  name = 'nowhere'
  canPatch = true
  position = 0
  segments = []
  #holes

  /** `slots` as the layout of the file has them. */
  constructor(slots) {
    let at = 0
    this.#holes = [...slots].flatMap(({ payload, bytes, length }) => {
      const hole = { at, length: payload?.byteLength ?? bytes?.byteLength ?? length }
      at += hole.length
      return payload && hole.length % period === 0 ? [hole] : []
    })
  }

  async write(bytes) {
    const at = this.position
    this.position += bytes.byteLength
    if (this.#holes[0]?.at === at) this.segments.push(this.#holes.shift())
    const last = this.segments.at(-1)
    if (last && at < last.at + last.length) return
    this.segments.push({ at, length: bytes.byteLength, bytes: bytes.slice() })
  }

  async patch(offset, bytes) {
    const { at, bytes: kept } = this.segments[findSegment(this.segments, offset)]
    kept.set(bytes, offset - at)
  }

  async close() {}
  async abort() {}
}

/** The one that this offset lies in. */
function findSegment(segments, offset) {
  let [low, high] = [0, segments.length - 1]
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (segments[middle].at <= offset) low = middle
    else high = middle - 1
  }
  return low
}

function makePattern() {
  const bytes = new Uint8Array(new WebAssembly.Memory({ initial: period / 65_536 }).buffer)
  fillNormal(new Float32Array(bytes.buffer), 1, 0.02)
  return bytes
}

function repeatPattern(data, target, from) {
  for (let done = 0; done < target.byteLength; ) {
    const start = (from + done) % period
    const part = data.subarray(start, Math.min(period, start + target.byteLength - done))
    target.set(part, done)
    done += part.byteLength
  }
}
