// The format since PyTorch 1.6: a zip archive with one top folder of any name. In it, data.pkl describes everything, data/KEY is the
// storage of that key, version is a number, and byteorder, where present, says whether the storages are "little" or "big". Members are
// stored as they are and start on multiples of 64; a deflated archive is legal too. TorchScript adds code/ and constants.pkl.
import { type ByteSource, decodeLossy } from '../../bytes/index.js'
import { collectingReport, type Finding } from '../../errors/index.js'
import type { Metadata, Model, Opened, Part, ReadContext, Tensor } from '../../model/index.js'
import { checkMember, memberPayload } from '../../payloads/zip-payload.js'
import { type Pickle, type PickleHooks, readPickle } from '../../wire/pickle/pickle.js'
import { readMemberHead, readZip, type ZipArchive, type ZipMember } from '../../wire/zip/zip.js'
import { checkArchive } from './check.js'
import { codes } from './codes.js'
import { checkGlobals } from './globals.js'
import { isLoadable } from './loadable.js'
import { metadataRecord, readMetadataRecord } from './metadata-record.js'
import { ViewBuilder } from './objects/rebuild.js'
import {
  readStorageIds,
  type Storage,
  type StorageId,
  StorageIdReader,
  type StorageIds,
  type Storages,
} from './objects/storages.js'
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
  const archive = new Archive(zip, context)
  archive.record()
  const isTorchScript = archive.has('constants.pkl')
  if (isTorchScript) archive.noteScript()
  const { path } = archive.pickle
  const { pickle, ids } = await readViews(archive, context, isTorchScript)
  const found = archive.findStorages(ids)
  if (context.onLost) await archive.dropDamaged(found)
  const isBigEndian = (await archive.word('byteorder', ['little', 'big'])) === 'big'
  const storages = archive.storages(ids, found, isBigEndian)
  const options = { file: source.name, root, path, size: archive.pickle.size }
  const { tensors, metadata, storageKeys, numbered } = walk(pickle.value, storages, context, options)
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
      numbered,
      root: archive.root,
      isCopied: archive.isPlain(found, isBigEndian) && isLoadable(pickle),
      crc32Of: (key) => archive.crc32Of(key),
      read: () => readTree({ ...zip, source }, context),
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
async function readTree(zip: ZipArchive, context: ReadContext): Promise<TreeContent> {
  const report = collectingReport(zip.source.name, [])
  const silent: ReadContext = { ...context, report, extents: undefined, onLost: undefined }
  const archive = new Archive(zip, silent)
  const { pickle } = await archive.readPickle()
  const ids = readStorageIds(pickle.references, archive.pickle.path, silent, { lengths: [5] })
  const isBigEndian = (await archive.word('byteorder')) === 'big'
  return { value: pickle.value, storages: archive.storages(ids, archive.findStorages(ids), isBigEndian) }
}

/** The storages of references, in their order. */
type Found = (ZipMember | undefined)[]

class Archive {
  /** The member that describes everything. */
  readonly pickle: ZipMember
  /** The name of the top folder. */
  readonly root: string
  readonly #source: ByteSource
  readonly #members: readonly ZipMember[]
  readonly #byName: ZipArchive['byName']
  readonly #context: ReadContext

  constructor({ source, members, byName }: ZipArchive, context: ReadContext) {
    this.#source = source
    this.#members = members
    this.#byName = byName
    this.#context = context
    const { report } = context
    this.pickle =
      members.find(
        ({ name }) => name.endsWith('/data.pkl') && name.indexOf('/') === name.length - '/data.pkl'.length,
      ) ??
      report.fail(codes.archive, {
        offset: members[0]?.entryOffset ?? 0,
        path: 'members',
        message: 'there is no data.pkl in a top folder',
      })
    this.root = this.pickle.name.slice(0, -'/data.pkl'.length)
    const folder = `${this.root}/`
    for (const member of members) {
      const { name } = member
      if (name.startsWith(folder)) continue
      const { path, entryOffset: offset } = member
      const message = `${JSON.stringify(name)} is not in the folder ${JSON.stringify(folder)}`
      report.report(codes['archive-root'], { offset, path, message })
    }
  }

  /** By its name inside the top folder. */
  #member(name: string): ZipMember | undefined {
    return this.#byName.get(`${this.root}/${name}`)
  }

  #isStorage({ name }: ZipMember): boolean {
    const start = this.root.length + 1
    return name.startsWith('data/', start) && name.startsWith(this.root) && name.length > start + 'data/'.length
  }

  /** Whether PyTorch loads the archive as it is, by mapping it into memory. */
  isPlain(found: Found, isBigEndian: boolean): boolean {
    if (isBigEndian || this.pickle.isDeflated) return false
    for (const member of found) {
      if (!member) continue
      if (member.isDeflated || (member.size > 0 && member.dataOffset % minAlignment > 0)) return false
    }
    return true
  }

  crc32Of(key: string): number | undefined {
    return this.#member(`data/${key}`)?.crc32 || undefined
  }

  /** What other containers said about the model and a checkpoint has no place for. */
  async ownMetadata(): Promise<Metadata> {
    const member = this.#member(metadataRecord)
    if (!member || member.size > this.#context.limits.indexBytes) return new Map()
    const bytes = await readMemberHead(this.#source, member, member.size, this.#context.signal)
    const metadata = readMetadataRecord(bytes)
    if (metadata) return metadata
    const { dataOffset: offset, path } = member
    this.#context.report.report(codes['metadata-record'], { offset, path, message: 'it was left out' })
    return new Map()
  }

  has(name: string): boolean {
    return this.#member(name) !== undefined
  }

  /** The byte map: storages are data, everything else is index. */
  record(): void {
    const { extents } = this.#context
    if (!extents) return
    for (const member of this.#members) {
      if (!member.name.startsWith(`${this.root}/`)) continue
      const { dataOffset: offset, storedSize: length, path } = member
      const kind = this.#isStorage(member) ? 'data' : 'field'
      extents.add({ file: this.#source.name, offset, length, path: `${path}.data`, kind })
    }
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
    const member = this.#member(name)
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
    const member = (name === undefined ? undefined : this.#member(name)) ?? this.pickle
    const details = { offset: member.dataOffset, path: name === undefined ? 'version' : member.path, message }
    this.#context.report.report(codes[this.#context.lenient ? 'version-taken' : 'version'], details)
    return word
  }

  /** The storages that are there in full. Those that are missing or of another size are reported once. */
  findStorages(ids: StorageIds): Found {
    const { report } = this.#context
    const refused = new Set<string>()
    const found = ids.map((id) => {
      if (!id || refused.has(id.key)) return undefined
      const { key, byteLength, offset } = id
      const member = this.#member(`data/${key}`)
      if (member?.size === byteLength) return member
      refused.add(key)
      if (member) {
        const message = `${byteLength} bytes are announced, the record has ${member.size}`
        report.report(codes['storage-size'], { offset: member.dataOffset, path: member.path, message })
      } else {
        const message = `there is no record for the storage ${JSON.stringify(key)}`
        report.report(codes['storage-missing'], { offset, path: this.pickle.path, message })
      }
      return undefined
    })
    this.#noteUnused(found, refused)
    // A storage that is described in two ways is none.
    return refused.size === 0 ? found : found.map((member, i) => (refused.has(ids[i]?.key ?? '') ? undefined : member))
  }

  storages(ids: StorageIds, found: Found, isBigEndian: boolean): Storages {
    let byteLength = 0
    for (const member of this.#members) if (this.#isStorage(member)) byteLength += member.size
    const find = ({ index }: StorageId): Storage | undefined => {
      const member = found[index]
      return (
        member && {
          byteLength: member.size,
          part: (offset, length) => memberPayload(this.#source, member, offset, length),
        }
      )
    }
    return { ids, byteLength, isBigEndian, find }
  }

  /** Removes the storages that do not match their checksum. A view may take its elements from anywhere in a storage. */
  async dropDamaged(found: Found): Promise<void> {
    const damaged = new Set<ZipMember | undefined>()
    for (const member of new Set(found)) {
      if (!member) continue
      const findings: Finding[] = []
      const report = collectingReport(this.#source.name, findings)
      const context = { ...this.#context, report, extra: {}, checked() {} }
      await checkMember(this.#source, member, context)
      if (findings.length > 0) damaged.add(member)
    }
    for (const [i, member] of found.entries()) if (damaged.has(member)) found[i] = undefined
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
          const member = key === undefined ? this.pickle : this.#member(`data/${key}`)
          const known = names.get(member)
          if (known) known.push(name)
          else names.set(member, [name])
        }
      }
      return names.get(asked) ?? []
    }
  }

  #noteUnused(found: Found, refused: ReadonlySet<string>): void {
    const used = new Set(found)
    const isRefused = (member: ZipMember): boolean => refused.has(member.name.slice(this.root.length + '/data/'.length))
    const unused = this.#members.filter((each) => this.#isStorage(each) && !used.has(each) && !isRefused(each))
    const [first] = unused
    if (!first) return
    const { name, path, entryOffset: offset } = first
    const others = unused.length > 1 ? ` nor to ${unused.length - 1} others` : ''
    const message = `no tensor refers to ${JSON.stringify(name.slice(this.root.length + 1))}${others}`
    this.#context.report.report(codes['unused-record'], { offset, path, message })
  }

  /** The program of a TorchScript archive, which no other format has a place for. */
  codePart(): Part {
    const code = this.#members.filter(({ name }) => /^[^/]+\/(code\/|constants)/.test(name))
    const bytes = code.reduce((sum, { size }) => sum + size, 0)
    return { kind: 'torch.code', sharing: 'private', owner: 'torchscript', value: { files: code.length, bytes } }
  }
}
