// The stream layout, the one that the reference library reads and writes: no sections, no checksums, no element types.
//
//   "EMBD" · version u32 = 1 · tensor count u32 · tensors · token count u32 · tokens
//   tensor: name length u32 · name · rank u32 · rank × u32 · float32 data     token: length u32 · bytes
//
// The walk goes over the records and skips the data. It does not report: whether the file has this layout at all is decided by how
// far the walk gets. What it finds is kept until then.
import { type ByteSource, countElements, decodeLossy, decodeUtf8, type Extent } from '../../../bytes/index.js'
import { NameSet } from '../../../bytes/name-set.js'
import { TokenTable } from '../../../content/vocabulary.js'
import { f32 } from '../../../dtypes/index.js'
import { type Code, type Details, maxFindings } from '../../../errors/index.js'
import { type ReadContext, rangePayload, type Tensor } from '../../../model/index.js'
import { PackedTensors } from '../../../model/packed-tensors.js'
import { codes } from '../codes.js'
import { StreamWindow } from '../stream-window.js'
import { bytesPerEntry, maxRank, maxStringLength, maxTokenCount } from '../structs.js'

export interface Problem {
  readonly code: Code
  readonly details: Details
}

export interface Walk {
  /** Where the records end; undefined when the walk had to stop before. */
  readonly end?: number | undefined
  /** What stopped it. */
  readonly fatal?: Problem | undefined
  readonly problems: readonly Problem[]
  readonly tensors: readonly Tensor[]
  readonly vocabulary?: TokenTable | undefined
  /** Whether the bytes where the first name should be could be a name. Other layouts have numbers or padding there. */
  readonly isPlausible: boolean
  readonly extents: readonly Extent[]
}

/** An early draft of the format, never in use, had names in fields of this size, filled up with zeros. */
const draftNameSize = 64

function isPadded(field: Uint8Array): boolean {
  const end = field.indexOf(0)
  return field.byteLength === draftNameSize && end >= 0 && field.subarray(end).every((byte) => byte === 0)
}

/** Ends the walk; never leaves this file. */
class Stop extends Error {
  constructor(readonly problem: Problem) {
    super(problem.details.message)
  }
}

export async function walkStream(source: ByteSource, context: ReadContext): Promise<Walk> {
  const walker = new Walker(source, context)
  try {
    const end = await walker.walk()
    return { ...walker.result(), end }
  } catch (error) {
    if (!(error instanceof Stop)) throw error
    return { ...walker.result(), fatal: error.problem }
  }
}

class Walker {
  readonly #source: ByteSource
  readonly #context: ReadContext
  readonly #window: StreamWindow
  readonly #extents: Extent[] = []
  readonly #problems: Problem[] = []
  readonly #tensors = new PackedTensors()
  readonly #names = new NameSet((position) => this.#tensors.nameAt(position))
  #vocabulary: TokenTable | undefined
  #isPlausible = true
  #at = 0

  constructor(source: ByteSource, context: ReadContext) {
    this.#source = source
    this.#context = context
    this.#window = new StreamWindow(source, context.signal)
  }

  result(): Walk {
    return {
      problems: this.#problems,
      tensors: this.#tensors,
      vocabulary: this.#vocabulary,
      isPlausible: this.#isPlausible,
      extents: this.#extents,
    }
  }

  async walk(): Promise<number> {
    this.#note(0, 4, 'header.magic', 'EMBD')
    this.#at = 4
    const version = await this.#u32('truncated-header', 'header.version')
    if (version !== 1)
      this.#stop('version', 4, 'header.version', `version ${version}, but the stream layout has only 1`)
    const count = await this.#u32('truncated-header', 'header.tensor_count')
    if (count > 0) await this.#judgeFirstName()
    for (let i = 0; i < count; i++) await this.#tensor(i)
    await this.#tokens()
    return this.#at
  }

  async #judgeFirstName(): Promise<void> {
    const at = this.#at
    if (!this.#window.exists(at, 4)) return
    await this.#window.fetch(at, 4)
    const room = Math.min(this.#window.size - at - 4, draftNameSize)
    const length = Math.min(this.#window.u32(at), room)
    await this.#window.fetch(at + 4, room)
    const start = this.#window.slice(at + 4, Math.min(length, 3))
    this.#isPlausible = start.every((byte) => byte >= 0x20) && !isPadded(this.#window.slice(at + 4, room))
  }

  async #tensor(index: number): Promise<void> {
    const path = `tensors[${index}]`
    const start = this.#at
    const { bytes, offset } = await this.#string('truncated-name', path, 'name')
    const rank = await this.#u32('truncated-shape', `${path}.ndim`)
    if (rank < 1 || rank > maxRank) {
      this.#stop('ndim', this.#at - 4, `${path}.ndim`, `${rank} dimensions, but only 1 to ${maxRank} are possible`)
    }
    const shape = await this.#shape(rank, path)
    const name = decodeUtf8(bytes)
    const size = this.#dataSize(shape, path)
    const data = this.#at
    if (this.#context.extents)
      this.#note(data, size, `data[${JSON.stringify(name ?? decodeLossy(bytes))}]`, undefined, 'data')
    this.#at += size
    if (name === undefined) {
      this.#complain('name-utf8', offset, `${path}.name`, 'the name is not UTF-8')
      return
    }
    if (name === '') this.#complain('empty-tensor-name', start, `${path}.name`, 'the name is empty')
    if (this.#names.add(name, this.#tensors.length) !== undefined) {
      this.#complain('duplicate-tensor-name', offset, `${path}.name`, `${JSON.stringify(name)} was there before`)
      return
    }
    if ((this.#tensors.length + 1) * bytesPerEntry > this.#context.limits.indexBytes) {
      this.#stop('index-limit', start, path, `more than ${this.#tensors.length} tensors are over the limit`)
    }
    const payload = rangePayload(this.#source, data, size)
    this.#tensors.push({ name, dtype: f32, shape, order: 'row', role: 'weight', data: payload })
  }

  async #shape(rank: number, path: string): Promise<number[]> {
    const shape: number[] = []
    for (let i = 0; i < rank; i++) {
      const dim = await this.#u32('truncated-shape', `${path}.shape[${i}]`)
      if (dim === 0) this.#stop('dim-zero', this.#at - 4, `${path}.shape[${i}]`, 'the dimension is 0')
      shape.push(dim)
    }
    return shape
  }

  #dataSize(shape: readonly number[], path: string): number {
    const text = `[${shape.join(', ')}] of f32`
    const place = this.#at - 4 * shape.length
    const size = countElements(shape) === undefined ? undefined : f32.byteLength(shape)
    if (size === undefined)
      this.#stop('shape-overflow', place, `${path}.shape`, `${text} is more than any file can hold`)
    if (!this.#window.exists(this.#at, size)) {
      const left = this.#window.size - this.#at
      this.#stop('truncated-data', this.#at, `${path}.data`, `${text} takes ${size} bytes, but only ${left} are left`)
    }
    return size
  }

  async #tokens(): Promise<void> {
    const count = await this.#u32('truncated-vocab-count', 'vocab.count')
    if (count === 0) return
    const start = this.#at
    if (count > maxTokenCount) {
      const message = `${count} tokens; the reference library reads at most ${maxTokenCount}`
      this.#complain('vocab-count-limit', start - 4, 'vocab.count', message)
    }
    if (!this.#window.exists(start, count * 4)) {
      const message = `${count} tokens take at least ${count * 4} bytes, but only ${this.#window.size - start} are left`
      this.#stop('truncated-token', start, 'vocab.tokens', message)
    }
    const limit = Math.min(this.#context.limits.indexBytes, 0xffffffff)
    // Two lists of u32 beside the bytes themselves.
    if (count * 8 > limit) this.#stop('index-limit', start - 4, 'vocab.count', `${count} tokens are over the limit`)
    const starts = new Uint32Array(count)
    const ends = new Uint32Array(count)
    for (let id = 0; id < count; id++) {
      const at = this.#at
      if (this.#window.exists(at, 4) && !this.#window.holds(at, 4)) await this.#window.fetch(at, 4)
      const length = this.#tokenLength(at, id)
      this.#at = at + 4 + length
      if (this.#at - start > limit)
        this.#stop('index-limit', at, `vocab.tokens[${id}]`, 'the tokens are over the limit')
      starts[id] = at + 4 - start
      ends[id] = this.#at - start
    }
    const bytes = await this.#source.read(start, this.#at - start, { signal: this.#context.signal })
    this.#vocabulary = new TokenTable(bytes, starts, ends)
    if (!this.#context.extents) return
    for (let id = 0; id < count; id++) {
      const token = this.#vocabulary.token(id)
      this.#note(start + starts[id]! - 4, token.byteLength + 4, `vocab.tokens[${id}]`, decodeLossy(token))
    }
  }

  #tokenLength(at: number, id: number): number {
    const path = (): string => `vocab.tokens[${id}]`
    if (!this.#window.exists(at, 4)) this.#stop('truncated-token', at, path(), 'the length is cut off')
    const length = this.#window.u32(at)
    if (length > maxStringLength) this.#overlong(length, at, path())
    if (!this.#window.exists(at + 4, length)) {
      const message = `a token of ${length} bytes, but only ${this.#window.size - at - 4} are left`
      this.#stop('truncated-token', at, path(), message)
    }
    return length
  }

  async #string(code: keyof typeof codes, path: string, field: string): Promise<{ bytes: Uint8Array; offset: number }> {
    const length = await this.#u32(code, `${path}.${field}_length`)
    const offset = this.#at
    if (length > maxStringLength) this.#overlong(length, offset - 4, `${path}.${field}_length`)
    if (!this.#window.exists(offset, length)) {
      const message = `${length} bytes, but only ${this.#window.size - offset} are left`
      this.#stop(code, offset - 4, `${path}.${field}`, message)
    }
    if (length > this.#context.limits.indexBytes) {
      this.#stop('index-limit', offset - 4, `${path}.${field}`, `a name of ${length} bytes is over the limit`)
    }
    await this.#window.fetch(offset, length)
    const bytes = this.#window.slice(offset, length)
    this.#note(offset, length, `${path}.${field}`, decodeLossy(bytes.subarray(0, 200)))
    this.#at += length
    return { bytes, offset }
  }

  async #u32(code: keyof typeof codes, path: string): Promise<number> {
    const at = this.#at
    if (!this.#window.exists(at, 4)) {
      const left = Math.max(0, this.#window.size - at)
      this.#stop(code, Math.min(at, this.#window.size), path, `4 bytes are needed here, but only ${left} are left`)
    }
    if (!this.#window.holds(at, 4)) await this.#window.fetch(at, 4)
    const value = this.#window.u32(at)
    this.#note(at, 4, path, value)
    this.#at += 4
    return value
  }

  #overlong(length: number, offset: number, path: string): void {
    const message = `${length} bytes; the reference library reads at most ${maxStringLength}`
    this.#complain('string-length-limit', offset, path, message)
  }

  #complain(code: keyof typeof codes, offset: number, path: string, message: string): void {
    if (this.#problems.length < maxFindings)
      this.#problems.push({ code: codes[code], details: { offset, path, message } })
  }

  #stop(code: keyof typeof codes, offset: number, path: string, message: string): never {
    throw new Stop({ code: codes[code], details: { offset, path, message } })
  }

  #note(offset: number, length: number, path: string, value?: string | number, kind: Extent['kind'] = 'field'): void {
    if (this.#context.extents) this.#extents.push({ file: this.#source.name, offset, length, path, kind, value })
  }
}
