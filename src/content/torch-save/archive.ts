// The format since PyTorch 1.6: a zip archive with one top folder of any name. In it, data.pkl describes everything, data/KEY is the
// storage of that key, version is a number, and byteorder, where present, says whether the storages are "little" or "big". Members are
// stored as they are and start on multiples of 64; a deflated archive is legal too. TorchScript adds code/ and constants.pkl.
import { type ByteSource, decodeLossy } from '../../bytes/index.js'
import { collectingReport, type Finding } from '../../errors/index.js'
import type { Metadata, Model, Opened, Part, Payload, ReadContext, Tensor } from '../../model/index.js'
import { checkMember, memberPayload } from '../../payloads/zip-payload.js'
import { type Pickle, type PickleHooks, readPickle } from '../../wire/pickle/pickle.js'
import { readMemberHead, readZip, type ZipMember } from '../../wire/zip/zip.js'
import { checkArchive } from './check.js'
import { codes } from './codes.js'
import { checkGlobals } from './globals.js'
import { isLoadable } from './loadable.js'
import { metadataRecord, readMetadataRecord } from './metadata-record.js'
import { ViewBuilder } from './objects/rebuild.js'
import { readStorageIds, type Storage, StorageIdReader, type StorageIds } from './objects/storages.js'
import { walk } from './objects/walk.js'
import { rememberTree, type TreeContent } from './tree.js'

/** Records that hold one short word each. */
const wordLength = 64
/** Less than PyTorch itself gives to storages; enough for every element type. */
const minAlignment = 16
/** What PyTorch itself gives them, since it writes archives. */
const storageAlignment = 64
/** The versions that PyTorch reads. */
const versions = { first: 1, last: 10 }

export interface ArchiveOptions {
  /** The id of the format that reads the archive. */
  readonly format: string
  /** The name of what the archive holds. Absent: the names start with the keys inside it. */
  readonly root?: string | undefined
}

export async function readArchive(
  source: ByteSource,
  context: ReadContext,
  { format, root }: ArchiveOptions,
): Promise<Opened> {
  const { report, extents, signal, limits } = context
  // The tensors of members that are not whole are told of when their storages are looked for.
  const onLost = context.onLost && (() => {})
  const alignment = context.isSparing && !extents && !onLost ? storageAlignment : undefined
  const zip = await readZip(source, { report, extents, signal, maxDirectory: limits.indexBytes, onLost, alignment })
  const { members } = zip
  const archive = new Archive(zip.source, members, context)
  archive.record()
  const isTorchScript = archive.has('constants.pkl')
  if (isTorchScript) archive.noteScript()
  const { path } = archive.pickle
  const { pickle, ids } = await readViews(archive, context, isTorchScript)
  const found = archive.findStorages(ids)
  if (context.onLost) await archive.dropDamaged()
  const isBigEndian = (await archive.word('byteorder', ['little', 'big'])) === 'big'
  const storages = { ids, found, isBigEndian }
  const options = { file: source.name, root, path, size: archive.pickle.size }
  const { tensors, metadata, storageKeys } = walk(pickle.value, storages, context, options)
  for (const [key, value] of await archive.ownMetadata()) if (!metadata.has(key)) metadata.set(key, value)
  const version = await archive.version()
  const model: Model = {
    format,
    version,
    variant: isTorchScript ? 'torchscript' : 'zip',
    metadata,
    tensors,
    parts: isTorchScript ? [archive.codePart()] : [],
    files: [source],
  }
  const tensorsIn = archive.tensorsIn(tensors, storageKeys)
  if (!isTorchScript)
    rememberTree(source, {
      tensors,
      metadata,
      root: archive.root,
      isCopied: archive.isPlain(isBigEndian) && isLoadable(pickle),
      crc32Of: (key) => archive.crc32Of(key),
      read: () => readTree(source, members, context),
    })
  return { model, check: (checking) => checkArchive({ source, members, tensorsIn }, checking) }
}

/** Reads the pickle with views in place of the calls that rebuild tensors. */
async function readViews(
  archive: Archive,
  context: ReadContext,
  isTorchScript: boolean,
): Promise<{ pickle: Pickle; ids: StorageIds }> {
  const idReader = new StorageIdReader({ lengths: [5] })
  const views = new ViewBuilder(idReader.ids)
  const { pickle, readCalls } = await archive.readPickle({
    call: (callee, args, offset) => views.build(callee, args, offset),
    reference: (id, offset) => idReader.add(id, offset),
  })
  const { path } = archive.pickle
  checkGlobals({ globals: pickle.globals, readCalls }, path, context, { isTorchScript })
  return { pickle, ids: idReader.finish(path, context) }
}

/** The same again, as data to write: what was reported is not reported twice. */
async function readTree(source: ByteSource, members: readonly ZipMember[], context: ReadContext): Promise<TreeContent> {
  const report = collectingReport(source.name, [])
  const silent: ReadContext = { ...context, report, extents: undefined, onLost: undefined }
  const archive = new Archive(source, members, silent)
  const { pickle } = await archive.readPickle()
  const ids = readStorageIds(pickle.references, archive.pickle.path, silent, { lengths: [5] })
  const isBigEndian = (await archive.word('byteorder')) === 'big'
  return { value: pickle.value, storages: { ids, found: archive.findStorages(ids), isBigEndian } }
}

class Archive {
  /** The member that describes everything. */
  readonly pickle: ZipMember
  readonly #source: ByteSource
  readonly #context: ReadContext
  readonly #members: readonly ZipMember[]
  /** The name of the top folder. */
  readonly root: string
  /** What is in the top folder: storages by their keys, the rest by name. */
  readonly #storages = new Map<string, MemberStorage>()
  readonly #records = new Map<string, ZipMember>()

  constructor(source: ByteSource, members: readonly ZipMember[], context: ReadContext) {
    this.#source = source
    this.#context = context
    this.#members = members
    const { report } = context
    const pickles = members.filter(({ name }) => /^[^/]+\/data\.pkl$/.test(name))
    this.pickle =
      pickles[0] ??
      report.fail(codes.archive, {
        offset: members[0]?.entryOffset ?? 0,
        path: 'members',
        message: 'there is no data.pkl in a top folder',
      })
    const folder = this.pickle.name.slice(0, -'data.pkl'.length)
    const storages = `${folder}data/`
    this.root = folder.slice(0, -1)
    for (const member of members) {
      const { name } = member
      if (name.startsWith(storages) && name.length > storages.length)
        this.#storages.set(name.slice(storages.length), new MemberStorage(source, member))
      else if (name.startsWith(folder)) this.#records.set(name.slice(folder.length), member)
      else {
        const message = `${JSON.stringify(name)} is not in the folder ${JSON.stringify(folder)}`
        report.report(codes['archive-root'], { offset: member.entryOffset, path: member.path, message })
      }
    }
  }

  /** Whether PyTorch loads the archive as it is, by mapping it into memory. */
  isPlain(isBigEndian: boolean): boolean {
    if (isBigEndian || this.pickle.isDeflated) return false
    for (const { member } of this.#storages.values()) {
      if (member.isDeflated || (member.size > 0 && member.dataOffset % minAlignment > 0)) return false
    }
    return true
  }

  crc32Of(key: string): number | undefined {
    return this.#storages.get(key)?.member.crc32 || undefined
  }

  /** What other containers said about the model and a checkpoint has no place for. */
  async ownMetadata(): Promise<Metadata> {
    const member = this.#records.get(metadataRecord)
    if (!member || member.size > this.#context.limits.indexBytes) return new Map()
    const bytes = await readMemberHead(this.#source, member, member.size, this.#context.signal)
    const metadata = readMetadataRecord(bytes)
    if (metadata) return metadata
    const { dataOffset: offset, path } = member
    this.#context.report.report(codes['metadata-record'], { offset, path, message: 'it was left out' })
    return new Map()
  }

  has(name: string): boolean {
    return this.#records.has(name)
  }

  /** The byte map: storages are data, everything else is index. */
  record(): void {
    const { extents } = this.#context
    if (!extents) return
    const add = ({ dataOffset: offset, storedSize: length, path }: ZipMember, kind: 'data' | 'field'): void =>
      extents.add({ file: this.#source.name, offset, length, path: `${path}.data`, kind })
    for (const { member } of this.#storages.values()) add(member, 'data')
    for (const member of this.#records.values()) add(member, 'field')
  }

  noteScript(): void {
    const { report } = this.#context
    const { entryOffset: offset, path } = this.pickle
    report.report(codes.torchscript, { offset, path, message: 'the archive holds code beside the weights' })
    if (this.has('byteorder')) return
    const message = 'there is no record "byteorder"; the weights are taken for little-endian'
    report.report(codes['byte-order-unstated'], { offset, path, message })
  }

  /** `readCalls` reads the pickle once more, for those that want to know everything that it would call. */
  async readPickle(hooks?: PickleHooks): Promise<{ pickle: Pickle; readCalls: () => Pickle['calls'] }> {
    const { report, limits, signal } = this.#context
    const { size, path, dataOffset, isDeflated } = this.pickle
    if (size > limits.indexBytes) {
      const message = `the pickle has ${size} bytes, the limit is ${limits.indexBytes}`
      report.fail(codes['pickle-size'], { offset: this.pickle.entryOffset, path, message })
    }
    const bytes = await readMemberHead(this.#source, this.pickle, size, signal)
    const options = { base: dataOffset, isInflated: isDeflated, path }
    const pickle = readPickle(bytes, report, options, hooks)
    const readCalls = (): Pickle['calls'] => readPickle(bytes, collectingReport(path, []), options).calls
    if (pickle.byteLength < size) {
      const offset = dataOffset + (isDeflated ? 0 : pickle.byteLength)
      const message = `${size - pickle.byteLength} bytes come after the end of the pickle`
      report.report(codes['pickle-trailing'], { offset, path, message })
    }
    return { pickle, readCalls }
  }

  /** The text of a record that holds one word; undefined when there is none. */
  async word(name: string, allowed?: readonly string[]): Promise<string | undefined> {
    const member = this.#records.get(name)
    if (!member) return undefined
    const word = decodeLossy(await readMemberHead(this.#source, member, wordLength, this.#context.signal)).trim()
    if (allowed && !allowed.includes(word)) {
      const message = `the record says ${JSON.stringify(word)}, ${allowed.join(' or ')} was expected`
      this.#context.report.report(codes['byte-order'], { offset: member.dataOffset, path: member.path, message })
    }
    return word
  }

  /** Every reader of PyTorch looks at it first. */
  async version(): Promise<string | undefined> {
    const name = ['.data/version', 'version'].find((each) => this.has(each))
    const word = name === undefined ? undefined : await this.word(name)
    const number = Number(/^\d+/.exec(word ?? '')?.[0])
    if (number >= versions.first && number <= versions.last) return word
    const message = word === undefined ? 'there is no record of that name' : `it is ${JSON.stringify(word)}`
    const member = (name === undefined ? undefined : this.#records.get(name)) ?? this.pickle
    const details = { offset: member.dataOffset, path: name === undefined ? 'version' : member.path, message }
    this.#context.report.report(codes[this.#context.lenient ? 'version-taken' : 'version'], details)
    return word
  }

  /** The storages that are there in full. Those that are missing or of another size are reported once. */
  findStorages(ids: StorageIds): Map<string, MemberStorage> {
    const { report } = this.#context
    const storages = this.#storages
    const refused = new Set<string>()
    for (const id of ids) {
      if (!id) continue
      const { key, byteLength, offset } = id
      const storage = storages.get(key)
      if (storage?.byteLength === byteLength) {
        storage.isUsed = true
        continue
      }
      if (refused.has(key)) continue
      refused.add(key)
      storages.delete(key)
      if (storage) {
        const message = `${byteLength} bytes are announced, the record has ${storage.byteLength}`
        const { dataOffset, path } = storage.member
        report.report(codes['storage-size'], { offset: dataOffset, path, message })
      } else {
        const message = `there is no record for the storage ${JSON.stringify(key)}`
        report.report(codes['storage-missing'], { offset, path: this.pickle.path, message })
      }
    }
    this.#dropUnused()
    return storages
  }

  /** Removes the storages that do not match their checksum. A view may take its elements from anywhere in a storage. */
  async dropDamaged(): Promise<void> {
    for (const [key, { member }] of [...this.#storages]) {
      const findings: Finding[] = []
      const report = collectingReport(this.#source.name, findings)
      const context = { ...this.#context, report, extra: {}, checked() {} }
      await checkMember(this.#source, member, context)
      if (findings.length > 0) this.#storages.delete(key)
    }
  }

  /** Which tensors have bytes in which member: those without a storage have theirs in the pickle. */
  tensorsIn(
    tensors: readonly Tensor[],
    storageKeys: readonly (string | undefined)[],
  ): (member: ZipMember) => readonly string[] {
    let names: Map<ZipMember | undefined, string[]> | undefined
    return (asked) => {
      if (!names) {
        names = new Map()
        for (const [i, { name }] of tensors.entries()) {
          const key = storageKeys[i]
          const member = key === undefined ? this.pickle : this.#storages.get(key)?.member
          const known = names.get(member)
          if (known) known.push(name)
          else names.set(member, [name])
        }
      }
      return names.get(asked) ?? []
    }
  }

  #dropUnused(): void {
    let first: ZipMember | undefined
    let others = -1
    for (const [key, { member, isUsed }] of this.#storages) {
      if (isUsed) continue
      this.#storages.delete(key)
      first ??= member
      others++
    }
    if (!first) return
    const { name, path, entryOffset: offset } = first
    const more = others > 0 ? ` nor to ${others} others` : ''
    const message = `no tensor refers to ${JSON.stringify(name.slice(this.root.length + 1))}${more}`
    this.#context.report.report(codes['unused-record'], { offset, path, message })
  }

  /** The program of a TorchScript archive, which no other format has a place for. */
  codePart(): Part {
    const code = this.#members.filter(({ name }) => /^[^/]+\/(code\/|constants)/.test(name))
    const bytes = code.reduce((sum, { size }) => sum + size, 0)
    return { kind: 'torch.code', sharing: 'private', owner: 'torchscript', value: { files: code.length, bytes } }
  }
}

/** A class with few fields, since a file can have a storage for each of a hundred thousand tensors. */
class MemberStorage implements Storage {
  /** Whether a tensor refers to it. */
  isUsed = false
  readonly member: ZipMember
  readonly #source: ByteSource

  constructor(source: ByteSource, member: ZipMember) {
    this.#source = source
    this.member = member
  }

  get byteLength(): number {
    return this.member.size
  }

  part(offset: number, length: number): Payload {
    return memberPayload(this.#source, this.member, offset, length)
  }
}
