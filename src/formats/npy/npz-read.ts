// An NPZ file is a zip archive with one NPY file per array; the member's name without `.npy` is the array's. Stored members are read
// where they lie. Of a deflated one only as much is inflated as its header takes; the elements are streamed when somebody asks.
import { type ByteSource, decodeUtf8 } from '../../bytes/index.js'
import { type Report, TareError } from '../../errors/index.js'
import {
  type CheckContext,
  type Metadata,
  type Model,
  type Part,
  type ReadContext,
  readPayload,
  stowageKey,
  type Tensor,
  text,
} from '../../model/index.js'
import { type CheckedArchive, checkMembers, memberPayload, reportZipFailure } from '../../model/zip-payload.js'
import { startsLikeNpy } from '../../wire/npy-header.js'
import { npyHeadSize, parseNpyHeader } from '../../wire/npy-parse.js'
import { readMemberHead, readZip, type ZipArchive, type ZipContext, type ZipMember } from '../../wire/zip.js'
import { recordArray, tensorsOf } from './array.js'
import { ownNpzCodes as codes, npyCodes } from './codes.js'
import { extension, memberKind, unreadKind } from './names.js'

/** Nearly every header fits; longer ones cost a second read. */
const usualHead = 1024
const parallelReads = 16
export const stowageFile = `${stowageKey}.json`

const archives = new WeakMap<Model, CheckedArchive>()

export async function readArchive(source: ByteSource, context: ReadContext): Promise<Model> {
  const { report, extents, signal } = context
  const onLost = context.onLost && lostMember(context.onLost)
  const archive = await readZip(source, { report, extents, signal, mostDirectory: context.limits.indexBytes, onLost })
  const { members } = archive
  const contents = new Contents(source, context)
  for (let first = 0; first < members.length; first += parallelReads) {
    const batch = members.slice(first, first + parallelReads)
    const heads = await Promise.all(batch.map((member) => contents.head(member)))
    for (const [i, member] of batch.entries()) contents.add(member, heads[i])
  }
  const { tensors, parts, tensorsIn } = contents
  const metadata = await readStowage(source, archive, context)
  const model: Model = { format: 'npz', metadata, tensors, parts, files: [source] }
  archives.set(model, { source, members, tensorsIn })
  return model
}

/** A member takes its header on top of the elements, which only the member itself could tell. */
const lostMember =
  (onLost: NonNullable<ReadContext['onLost']>): NonNullable<ZipContext['onLost']> =>
  (member, reason) => {
    if (!member) return onLost({ subject: 'tensor', reason })
    const { name, size } = member
    const isArray = name.toLowerCase().endsWith(extension)
    const subject = isArray ? 'tensor' : 'part'
    onLost({
      subject,
      name: isArray ? name.slice(0, -extension.length) : name,
      reason: `${reason}; it had ${size} bytes`,
    })
  }

/** What other formats had no array for lies in the archive's comment, or in a member of its own when it is long. */
async function readStowage(
  source: ByteSource,
  { members, comment }: ZipArchive,
  { limits, signal }: ReadContext,
): Promise<Metadata> {
  const member = members.find(({ name, size }) => name === stowageFile && size <= limits.indexBytes)
  const bytes = member ? await readPayload(memberPayload(source, member), signal) : comment
  const content = bytes[0] === 0x7b ? decodeUtf8(bytes) : undefined
  return new Map(content === undefined ? [] : [[stowageKey, text(content)]])
}

export async function checkArchive(model: Model, context: CheckContext): Promise<void> {
  const archive = archives.get(model)
  if (archive) await checkMembers(archive, context)
}

class Contents {
  readonly tensors: Tensor[] = []
  readonly parts: Part[] = []
  readonly tensorsIn = new Map<ZipMember, string[]>()
  readonly #source: ByteSource
  readonly #context: ReadContext
  readonly #names = new Set<string>()

  constructor(source: ByteSource, context: ReadContext) {
    this.#source = source
    this.#context = context
  }

  /** Enough of the content to hold the header. Undefined when it cannot be inflated, which is reported. */
  async head(member: ZipMember): Promise<Uint8Array | undefined> {
    const { signal, report } = this.#context
    const read = (length: number): Promise<Uint8Array> => readMemberHead(this.#source, member, length, signal)
    try {
      const head = await read(usualHead)
      const isLong = startsLikeNpy(head) && head.byteLength >= 12 && headerEnd(head) > head.byteLength
      return isLong ? await read(npyHeadSize) : head
    } catch (error) {
      reportZipFailure(error, report)
      return undefined
    }
  }

  add(member: ZipMember, head: Uint8Array | undefined): void {
    if (!head) {
      this.#record(member)
      return
    }
    if (!isNamed(member) && !startsLikeNpy(head)) {
      this.#addOther(member)
      return
    }
    const report = placed(this.#context.report, member)
    try {
      this.#addArray(member, head, report)
    } catch (error) {
      if (!(error instanceof TareError) || !isAboutArray(error)) throw error
      this.#record(member)
      this.#addUnread(member, error.finding.message)
    }
  }

  /** Opening goes on without the array, and says so; checking has reported what is wrong with it. */
  #addUnread(member: ZipMember, reason: string): void {
    const { report, onLost } = this.#context
    const { entryOffset: offset, path, name, size } = member
    if (report.strict) report.report(codes.unreadable, { offset, path, message: `it was left out: ${reason}` })
    if (onLost) {
      onLost({ subject: 'tensor', name: arrayName(member), reason })
      return
    }
    const data = memberPayload(this.#source, member)
    this.parts.push({
      kind: unreadKind,
      sharing: 'private',
      owner: 'numpy',
      name,
      value: { bytes: size, reason },
      data,
    })
  }

  #addArray(member: ZipMember, head: Uint8Array, report: Report): void {
    const { extents } = this.#context
    const header = parseNpyHeader(head, report)
    const payload = (offset: number, length: number) => memberPayload(this.#source, member, offset, length)
    const whole = arrayName(member)
    const nameOf = (field = ''): string => (field === '' ? whole : `${whole}.${field}`)
    const tensors = tensorsOf(header, { size: member.size, report, payload, nameOf })
    if (member.isDeflated) this.#record(member)
    else
      recordArray(
        extents,
        this.#source.name,
        member.dataOffset,
        member.size,
        header,
        tensors !== undefined,
        member.path,
      )
    if (!tensors) return
    for (const { name } of tensors) this.#checkName(name, member)
    this.tensors.push(...tensors)
    this.tensorsIn.set(
      member,
      tensors.map(({ name }) => name),
    )
  }

  #checkName(name: string, { entryOffset: offset, path }: ZipMember): void {
    const message = `the array ${JSON.stringify(name)} was there before`
    if (this.#names.has(name)) this.#context.report.report(codes['duplicate-name'], { offset, path, message })
    this.#names.add(name)
  }

  #addOther(member: ZipMember): void {
    this.#record(member)
    const isFolder = member.size === 0 && member.name.endsWith('/')
    if (isFolder || member.name === stowageFile) return
    const { entryOffset: offset, path, name, size } = member
    this.#context.report.report(codes.member, { offset, path, message: `${JSON.stringify(name)} is no array` })
    const data = memberPayload(this.#source, member)
    this.parts.push({ kind: memberKind, sharing: 'private', name, value: { bytes: size }, data })
  }

  #record({ dataOffset: offset, storedSize: length, path }: ZipMember): void {
    this.#context.extents?.add({ file: this.#source.name, offset, length, path: `${path}.data`, kind: 'data' })
  }
}

const isNamed = ({ name }: ZipMember): boolean => name.toLowerCase().endsWith(extension)
const arrayName = (member: ZipMember): string =>
  isNamed(member) ? member.name.slice(0, -extension.length) : member.name

const arrayCodes = new Set(Object.values(npyCodes).map(({ code }) => code))
/** The archive gave all bytes of the member, and they are no array that can be read. */
const isAboutArray = ({ code }: TareError): boolean => arrayCodes.has(code)

/** Where the header ends, going by its length field. */
function headerEnd(head: Uint8Array): number {
  const view = new DataView(head.buffer, head.byteOffset, head.byteLength)
  return head[6] === 1 ? 10 + view.getUint16(8, true) : 12 + view.getUint32(8, true)
}

/** Findings about the content of a member, placed in the file: exactly for stored ones, at their beginning for deflated ones. */
function placed(report: Report, { dataOffset, isDeflated, path }: ZipMember): Report {
  const move = <T extends { offset?: number; length?: number; path?: string }>(details: T): T => {
    const inner = details.path ? `${path}.${details.path}` : path
    if (isDeflated) {
      const { length: _length, ...rest } = details
      return { ...rest, offset: dataOffset, path: inner } as T
    }
    return { ...details, offset: dataOffset + (details.offset ?? 0), path: inner }
  }
  return {
    file: report.file,
    strict: report.strict,
    report: (code, details) => report.report(code, move(details)),
    fail: (code, details) => report.fail(code, move(details)),
    forFile: (file) => report.forFile(file),
  }
}
