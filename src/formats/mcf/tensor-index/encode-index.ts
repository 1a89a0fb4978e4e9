// The TensorIndex as the reference writes it: entries in the order of names, one run of dimensions and one of name bytes per entry, tables
// one behind the other. Its bytes are made when they are written, a stretch of tensors at a time: with a million of them they take a good
// part of the memory otherwise.
import { failWith, writeCodes } from '../../../errors/index.js'
import { type BytesSlot, madeSlot, type Tensor } from '../../../model/index.js'
import { codeOfDType } from '../dtypes.js'
import { sectionName, sectionTypes } from '../sections.js'
import { flagSorted, flagUtf8, indexEntry, indexHeader } from '../structs.js'

/** So many entries, or what belongs to them in the other tables, are made together. */
const together = 4096

/** What lies before a stretch of tensors, and what belongs to it. */
interface Stretch {
  readonly first: number
  readonly count: number
  readonly dimOff: number
  readonly dimCount: number
  readonly nameOff: number
  readonly nameBytes: number
}

export class TensorIndex {
  readonly #tensors: readonly Tensor[]
  readonly #offsets: ArrayLike<number>
  readonly #stretches: Stretch[] = []
  readonly #dimsCount: number
  readonly #stringsSize: number
  #isUtf8 = true

  /** The tensors are in the order of their names; `offsets` are where their data begin. */
  constructor(tensors: readonly Tensor[], offsets: ArrayLike<number>) {
    this.#tensors = tensors
    this.#offsets = offsets
    let [dimOff, nameOff] = [0, 0]
    for (let first = 0; first < tensors.length; first += together) {
      const count = Math.min(together, tensors.length - first)
      let [dimCount, nameBytes] = [0, 0]
      for (let i = first; i < first + count; i++) {
        const tensor = tensors.at(i)!
        requireCode(tensor)
        dimCount += tensor.shape.length
        nameBytes += nameLength(tensor)
        if (tensor.rawName) this.#isUtf8 = false
      }
      this.#stretches.push({ first, count, dimOff, dimCount, nameOff, nameBytes })
      dimOff += dimCount
      nameOff += nameBytes
    }
    this.#dimsCount = dimOff
    this.#stringsSize = nameOff
  }

  get length(): number {
    return this.#stringsOff + this.#stringsSize
  }

  get #dimsOff(): number {
    return indexHeader.size + this.#tensors.length * indexEntry.size
  }

  get #stringsOff(): number {
    return this.#dimsOff + 8 * this.#dimsCount
  }

  *slots(): Generator<BytesSlot, void, void> {
    yield slot(indexHeader.size, () => this.#header())
    for (const each of this.#stretches) yield slot(each.count * indexEntry.size, () => this.#entries(each))
    for (const each of this.#stretches) if (each.dimCount > 0) yield slot(8 * each.dimCount, () => this.#dims(each))
    for (const each of this.#stretches) if (each.nameBytes > 0) yield slot(each.nameBytes, () => this.#names(each))
  }

  /** All of it at once. */
  encode(): Uint8Array {
    const bytes = new Uint8Array(this.length)
    let at = 0
    for (const { bytes: piece } of this.slots()) {
      bytes.set(piece, at)
      at += piece.byteLength
    }
    return bytes
  }

  #header(): Uint8Array {
    return indexHeader.write({
      version: 1,
      flags: flagSorted + (this.#isUtf8 ? flagUtf8 : 0),
      tensorCount: this.#tensors.length,
      dimsCount: this.#dimsCount,
      entriesOff: BigInt(indexHeader.size),
      dimsOff: BigInt(this.#dimsOff),
      stringsOff: BigInt(this.#stringsOff),
      stringsSize: BigInt(this.#stringsSize),
    })
  }

  #entries({ first, count, ...starts }: Stretch): Uint8Array {
    const bytes = new Uint8Array(count * indexEntry.size)
    const view = new DataView(bytes.buffer)
    let { dimOff, nameOff } = starts
    for (let i = 0; i < count; i++) {
      const tensor = this.#tensors.at(first + i)!
      const at = i * indexEntry.size
      const nameLen = nameLength(tensor)
      const fields = [nameOff, nameLen, requireCode(tensor), tensor.shape.length, dimOff]
      for (const [k, value] of fields.entries()) view.setUint32(at + 4 * k, value, true)
      setU64(view, at + indexEntry.offsetOf('dataOff'), this.#offsets[first + i]!)
      setU64(view, at + indexEntry.offsetOf('dataSize'), tensor.data!.byteLength)
      dimOff += tensor.shape.length
      nameOff += nameLen
    }
    return bytes
  }

  #dims({ first, count, dimCount }: Stretch): Uint8Array {
    const bytes = new Uint8Array(8 * dimCount)
    const view = new DataView(bytes.buffer)
    let at = 0
    for (let i = first; i < first + count; i++) {
      for (const dim of this.#tensors.at(i)!.shape) {
        setU64(view, at, dim)
        at += 8
      }
    }
    return bytes
  }

  #names({ first, count, nameBytes }: Stretch): Uint8Array {
    const encoder = new TextEncoder()
    const bytes = new Uint8Array(nameBytes)
    let at = 0
    for (let i = first; i < first + count; i++) {
      const { name, rawName } = this.#tensors.at(i)!
      const raw = rawName?.[0]
      if (raw) bytes.set(raw, at)
      at += raw ? raw.byteLength : encoder.encodeInto(name, bytes.subarray(at)).written
    }
    return bytes
  }
}

const slot = (length: number, make: () => Uint8Array): BytesSlot =>
  madeSlot(sectionName(sectionTypes.tensorIndex), length, make)

/** Bytes of the name. */
function nameLength({ name, rawName }: Tensor): number {
  if (rawName?.[0]) return rawName[0].byteLength
  let length = name.length
  for (let i = 0; i < name.length; i++) {
    const unit = name.charCodeAt(i)
    // Two halves of a surrogate pair take four bytes together; one alone becomes U+FFFD, which takes three.
    if (unit >= 0x80) length += unit < 0x800 || isPaired(name, i, unit) ? 1 : 2
  }
  return length
}

function isPaired(text: string, i: number, unit: number): boolean {
  if (unit >= 0xd800 && unit < 0xdc00) return (text.charCodeAt(i + 1) & 0xfc00) === 0xdc00
  return unit >= 0xdc00 && unit < 0xe000 && (text.charCodeAt(i - 1) & 0xfc00) === 0xd800
}

/** Of a safe integer. */
function setU64(view: DataView, at: number, value: number): void {
  view.setUint32(at, value % 2 ** 32, true)
  view.setUint32(at + 4, Math.floor(value / 2 ** 32), true)
}

function requireCode({ dtype, name }: Tensor): number {
  const message = `MCF has no type for ${dtype.id}`
  return codeOfDType(dtype.id) ?? failWith(writeCodes['dtype-unsupported'], { file: '', path: name, message })
}
