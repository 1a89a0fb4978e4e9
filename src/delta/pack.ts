// Making a delta: every tensor of the new model is compared with that of the base, window by window, and what differs is packed. All bytes
// of the new model are read once, in the order of its files, whose digests are computed in the same pass.
import { defaultWindow, toHex } from '../bytes/index.js'
import { createHasher, type Hasher } from '../digest/index.js'
import { callerWord, failWith } from '../errors/index.js'
import { type Model, type Payload, type Tensor, totalSize } from '../model/index.js'
import { parseRename } from '../transforms/select.js'
import { encodeZstdStream } from '../wire/zstd/encoder.js'
import { type ChecksumName, createChecksum } from './checksums.js'
import { deltaCodes } from './codes.js'
import { type CutModel, cutModel } from './cut-model.js'
import { type DeltaDocument, type DeltaFile, type DeltaTensor, documentKey, frameKey } from './document.js'
import { makeFrame, type Pack } from './frame.js'
import { toPlanes } from './planes.js'
import type { Spool } from './spool.js'
import { bytesOf, type XorWindow, xorWindows } from './xor.js'

export interface PackDeltaOptions {
  /** Rearranges the bytes of elements before they are packed: smaller, and nobody else reads it. */
  readonly planes?: boolean | undefined
  /** From 1 (fast) to 19 (small). Default: 1, which is often the smallest as well. */
  readonly level?: number | undefined
  /** What the new bytes of each tensor are stated with, beside BLAKE3. Default: blake3. */
  readonly checksum?: ChecksumName | undefined
  /** Rules such as `s/^model\.//` that turn names of the base into names of the new model. */
  readonly rename?: readonly string[] | undefined
  readonly signal?: AbortSignal | undefined
  /** Called as bytes of the new model are read. */
  readonly onProgress?: ((progress: { done: number; total: number; path: string }) => void) | undefined
}

/** A packed tensor, or the packed frame. */
export interface DeltaEntry {
  readonly key: string
  readonly payload: Payload
  readonly checksum?: string | undefined
}

export interface MadeDelta {
  readonly document: DeltaDocument
  readonly entries: readonly DeltaEntry[]
  /** Why readers of the public form cannot apply it; empty: they can. */
  readonly beyondPublic: readonly string[]
  readonly counts: DeltaCounts
}

export interface DeltaCounts {
  readonly same: number
  readonly changed: number
  readonly added: number
  readonly renamed: number
  readonly removed: number
  /** Bytes of the new model. */
  readonly bytes: number
}

const defaultLevel = 1

export async function packDelta(
  base: Model,
  next: Model,
  spool: Spool,
  options: PackDeltaOptions = {},
): Promise<MadeDelta> {
  const [from, to] = [cutModel(base), cutModel(next)]
  const pairs = await pairTensors(from, to, options)
  const pack: Pack = (content, size) => spool.add(encodeZstdStream(content, size, options.level ?? defaultLevel))
  const maker = new Maker(from, to, pairs, pack, options, totalSize(next))
  const files = await maker.readFiles()
  const { frame, payload } = await makeFrame(from.frame, to.frame, pack, options.signal)
  const { tensors } = maker
  const entries = payload ? [...maker.entries, { key: frameKey, payload }] : maker.entries
  const removed = [...from.tensors.keys()].filter((name) => !pairs.used.has(name))
  const document: DeltaDocument = {
    checksum: options.checksum ?? 'blake3',
    base: { format: base.format },
    new: { format: next.format, files: isSameCut(from, to) ? files : files.map((file, i) => withCuts(file, to, i)) },
    ...{ frame, tensors, removed },
  }
  const isRenamed = ({ name, from: old }: DeltaTensor): boolean => old !== undefined && old !== name
  const counts = {
    changed: tensors.filter(({ key, from: old }) => key !== undefined && old !== undefined).length,
    added: tensors.filter(({ from: old }) => old === undefined).length,
    renamed: tensors.filter(isRenamed).length,
    removed: removed.length,
    same: to.tensors.size - tensors.filter(({ key }) => key !== undefined).length,
    bytes: totalSize(next),
  }
  return { document, entries, counts, beyondPublic: beyondPublic(document, from) }
}

function beyondPublic(
  { tensors, removed, frame, new: { files } }: DeltaDocument,
  { tensors: base }: CutModel,
): string[] {
  const reasons: string[] = []
  if (tensors.some(({ width }) => width !== undefined)) reasons.push('byte planes')
  if (tensors.some(({ from }) => from === undefined)) reasons.push('tensors that the base does not have')
  if (tensors.some(({ from, name }) => from !== undefined && from !== name)) reasons.push('renamed tensors')
  if (tensors.some(({ from, length }) => from !== undefined && base.get(from)!.data!.byteLength !== length))
    reasons.push('tensors of another size')
  if (tensors.some(({ key, name }) => key !== undefined && key !== name))
    reasons.push('names that safetensors reserves')
  if (removed.length > 0) reasons.push('tensors that are gone')
  if (files.some(({ cuts }) => cuts)) reasons.push('tensors in other places')
  if (frame.how !== 'base' && !frame.bytes) reasons.push('headers that differ much')
  return reasons
}

interface Pairs {
  /** Names in the base, by names in the new model. */
  readonly baseOf: ReadonlyMap<string, string>
  readonly used: ReadonlySet<string>
}

/** By name, by the rules for renaming, and where neither helps by equal bytes. */
async function pairTensors(from: CutModel, to: CutModel, { rename, signal }: PackDeltaOptions): Promise<Pairs> {
  const baseOf = new Map<string, string>()
  const used = new Set<string>()
  const pair = (name: string, old: string): void => {
    if (used.has(old) || baseOf.has(name)) return
    baseOf.set(name, old)
    used.add(old)
  }
  for (const name of to.tensors.keys()) if (from.tensors.has(name)) pair(name, name)
  const rules = (rename ?? []).map(parseRename)
  for (const old of rules.length === 0 ? [] : from.tensors.keys()) {
    const name = rules.reduce((current, rule) => rule(current), old)
    if (to.tensors.has(name)) pair(name, old)
  }
  const left = [...from.tensors.values()].filter(({ name }) => !used.has(name))
  const lengths = new Set(left.map(({ data }) => data!.byteLength))
  const open = [...to.tensors.values()].filter(({ name, data }) => !baseOf.has(name) && lengths.has(data!.byteLength))
  if (open.length === 0) return { baseOf, used }
  const digests = new Map<string, string>()
  for (const { name, data } of left) digests.set(await digestOfPayload(data!, signal), name)
  for (const { name, data } of open) {
    const old = digests.get(await digestOfPayload(data!, signal))
    if (old !== undefined) pair(name, old)
  }
  return { baseOf, used }
}

async function digestOfPayload(payload: Payload, signal?: AbortSignal): Promise<string> {
  const hasher = await createHasher('blake3')
  for await (const chunk of payload.chunks(defaultWindow, signal)) hasher.update(chunk)
  return toHex(hasher.digest())
}

class Maker {
  readonly tensors: DeltaTensor[] = []
  readonly entries: DeltaEntry[] = []
  readonly #from: CutModel
  readonly #to: CutModel
  readonly #pairs: Pairs
  readonly #pack: Pack
  readonly #options: PackDeltaOptions
  readonly #total: number
  readonly #keys = new Set<string>(['__metadata__', documentKey, frameKey])
  #done = 0

  constructor(from: CutModel, to: CutModel, pairs: Pairs, pack: Pack, options: PackDeltaOptions, total: number) {
    this.#from = from
    this.#to = to
    this.#pairs = pairs
    this.#pack = pack
    this.#options = options
    this.#total = total
  }

  /** Packs the tensors that changed, in the order of the files. */
  async readFiles(): Promise<DeltaFile[]> {
    const main = this.#to.files[0]!.source.name
    const files: DeltaFile[] = []
    for (const { source, cuts } of this.#to.files) {
      const hasher = await createHasher('blake3')
      let at = 0
      const rest = async (end: number): Promise<void> => {
        for (; at < end; at += defaultWindow) {
          const bytes = await source.read(at, Math.min(defaultWindow, end - at), { signal: this.#options.signal })
          hasher.update(bytes)
          this.#advance(bytes.byteLength, source.name)
        }
        at = end
      }
      for (const { start, end, tensor } of cuts) {
        await rest(start)
        await this.#addTensor(tensor, hasher)
        at = end
      }
      await rest(source.size)
      files.push({ name: nameBeside(main, source.name), size: source.size, digest: toHex(hasher.digest()) })
    }
    return files
  }

  #advance(bytes: number, path: string): void {
    this.#done += bytes
    this.#options.onProgress?.({ done: this.#done, total: this.#total, path })
  }

  async #addTensor(tensor: Tensor, file: Hasher): Promise<void> {
    const { name } = tensor
    const data = tensor.data!
    const old = this.#baseFor(tensor)
    const [baseHash, newHash] = [await createHasher('blake3'), await createHasher('blake3')]
    const checksum = await createChecksum(this.#options.checksum ?? 'blake3')
    const windows = xorWindows(old?.data ?? undefined, data, {
      signal: this.#options.signal,
      onBase: (bytes) => baseHash.update(bytes),
      onNext: (bytes) => {
        newHash.update(bytes)
        checksum.update(bytes)
        file.update(bytes)
        this.#advance(bytes.byteLength, name)
      },
    })
    const change = await firstChange(windows)
    const isSame = old !== undefined && change.first === undefined && old.data!.byteLength === data.byteLength
    let key: string | undefined
    if (!isSame) {
      const width = this.#widthOf(tensor)
      const content = width === 1 ? differences(change, windows) : planesOf(differences(change, windows), width)
      const payload = await this.#pack(content, data.byteLength)
      key = this.#keyFor(name)
      this.entries.push({ key, payload, checksum: checksum.digest() })
    } else if (old.name === name) return
    const width = this.#widthOf(tensor)
    this.tensors.push({
      ...{ name, length: data.byteLength },
      ...(old && { from: old.name, base: toHex(baseHash.digest()) }),
      ...(key !== undefined && { key }),
      ...(key !== undefined && width > 1 && { width }),
      new: toHex(newHash.digest()),
    })
  }

  /** The tensor to compare with: of the same size, or of the same rows and fewer of them. */
  #baseFor({ name, shape, dtype, data }: Tensor): Tensor | undefined {
    const old = this.#from.tensors.get(this.#pairs.baseOf.get(name) ?? '')
    if (!old || old.data!.byteLength === data!.byteLength) return old
    const isLonger = old.data!.byteLength < data!.byteLength && old.dtype.id === dtype.id
    const hasSameRows = old.shape.length === shape.length && shape.slice(1).every((dim, i) => dim === old.shape[i + 1])
    return isLonger && hasSameRows ? old : undefined
  }

  #widthOf({ dtype, data }: Tensor): number {
    const { elements, bytes } = dtype.group
    const isWide = this.#options.planes && elements === 1 && [2, 4, 8].includes(bytes)
    return isWide && data!.byteLength % bytes === 0 ? bytes : 1
  }

  #keyFor(name: string): string {
    const key = this.#keys.has(name) ? `tare.tensor.${this.#keys.size}` : name
    this.#keys.add(key)
    return key
  }
}

interface Change {
  /** Bytes of the windows in which nothing changed. */
  readonly same: number
  /** The first window with a change; undefined: there is none. */
  readonly first: Uint8Array | undefined
}

async function firstChange(windows: AsyncGenerator<XorWindow, void, void>): Promise<Change> {
  let same = 0
  for (;;) {
    const next = await windows.next()
    if (next.done) return { same, first: undefined }
    if (!next.value.isZero) return { same, first: next.value.bytes }
    same += next.value.bytes.byteLength
  }
}

/** The whole difference, of which the start has been looked at. */
async function* differences(
  { same, first }: Change,
  rest: AsyncIterable<XorWindow>,
): AsyncGenerator<Uint8Array, void, void> {
  const zeros = new Uint8Array(Math.min(same, defaultWindow))
  for (let left = same; left > 0; left -= zeros.byteLength) yield zeros.subarray(0, Math.min(left, zeros.byteLength))
  if (first) yield first
  yield* bytesOf(rest)
}

async function* planesOf(windows: AsyncIterable<Uint8Array>, width: number): AsyncGenerator<Uint8Array, void, void> {
  const planes = new Uint8Array(defaultWindow)
  for await (const bytes of windows) {
    toPlanes(bytes, planes.subarray(0, bytes.byteLength), width)
    yield planes.subarray(0, bytes.byteLength)
  }
}

/** Whether every file has the same tensors in the same places. */
function isSameCut(from: CutModel, to: CutModel): boolean {
  return (
    from.files.length === to.files.length &&
    to.files.every(({ source, cuts }, i) => {
      const other = from.files[i]!
      return (
        other.source.size === source.size &&
        other.cuts.length === cuts.length &&
        cuts.every(({ start, end, tensor }, k) => {
          const cut = other.cuts[k]!
          return cut.start === start && cut.end === end && cut.tensor.name === tensor.name
        })
      )
    })
  )
}

const withCuts = (file: DeltaFile, { files }: CutModel, i: number): DeltaFile => ({
  ...file,
  cuts: files[i]!.cuts.map(({ start, end, tensor }) => [start, end - start, tensor.name]),
})

/** The path of a file from the directory of the main one. */
function nameBeside(main: string, file: string): string {
  const home = main.slice(0, Math.max(main.lastIndexOf('/'), main.lastIndexOf('\\')) + 1)
  if (file.startsWith(home)) return file.slice(home.length).replaceAll('\\', '/')
  const message = `this file of the model is not in the directory of its main file, so it has no name in a delta; ${callerWord('use `tare convert` to make one model of it first', 'convert the model first')}`
  return failWith(deltaCodes.unchangeable, { file, message })
}
