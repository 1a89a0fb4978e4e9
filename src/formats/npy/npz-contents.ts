// The members of an NPZ file as tensors and parts. An array that cannot be read is left out; the others are read.
import { type ByteSource, decodeUtf8 } from '../../bytes/index.js'
import { type Code, type Details, type Finding, findingOf, type Report, TareError } from '../../errors/index.js'
import type { Part, ReadContext, Tensor } from '../../model/index.js'
import { memberPayload } from '../../payloads/zip-payload.js'
import { npyHeaderCodes } from '../../wire/npy/codes.js'
import { startsLikeNpy } from '../../wire/npy/header.js'
import { type NpyHeader, parseNpyHeader } from '../../wire/npy/parse.js'
import type { ZipArchive, ZipMember } from '../../wire/zip/zip.js'
import { arrayTensor, checkLength, dataLength, describeRecords, fieldTensors, recordArray } from './array.js'
import { ownNpzCodes as codes, npyCodes } from './codes.js'
import { extension, memberKind, stowageFile, unreadKind } from './names.js'
import { npyHeaderEnd } from './npz-heads.js'

const maxHeaders = 1 << 10

export class Contents {
  readonly tensors: Tensor[] = []
  readonly parts: Part[] = []
  readonly flaws: Finding[] = []
  /** The tensors of members that are anything but one array. */
  readonly #unlike = new Map<ZipMember, readonly string[]>()
  readonly #unread: { readonly member: ZipMember; readonly error: TareError }[] = []
  readonly #source: ByteSource
  readonly #context: ReadContext
  readonly #hasRepeats: boolean
  /** The names of the tensors so far, once two of them could be the same. */
  #names: Set<string> | undefined
  /** Headers without anything to report, by their text: those of a model are mostly alike. */
  readonly #headers = new Map<string, NpyHeader>()

  constructor(source: ByteSource, { hasRepeats }: ZipArchive, context: ReadContext) {
    this.#source = source
    this.#hasRepeats = hasRepeats
    this.#context = context
  }

  /** Gives the names of the tensors in a member, without keeping anything else of this. */
  tensorsIn(): (member: ZipMember) => readonly string[] {
    const unlike = this.#unlike
    return (member) => unlike.get(member) ?? [arrayName(member)]
  }

  add(member: ZipMember, head: Uint8Array | undefined): void {
    if (!head) {
      this.#unlike.set(member, [])
      this.#record(member)
      return
    }
    if (!isNamed(member) && !startsLikeNpy(head)) {
      this.#addOther(member)
      return
    }
    try {
      this.#addArray(member, head, new ArrayReport(this.#context.report, member))
    } catch (error) {
      if (!(error instanceof TareError) || !isAboutArray(error)) throw error
      this.#record(member)
      this.#addUnread(member, error)
    }
  }

  /** Reports the arrays that were left out. When no other is there, the first error is thrown. */
  tellUnread(): void {
    const { report, onLost } = this.#context
    const [first] = this.#unread
    if (first && this.tensors.length === 0 && !onLost) throw first.error
    for (const { member, error } of this.#unread) {
      const { entryOffset: offset, path } = member
      const reason = error.finding.message
      report.report(codes.unreadable, { offset, path, message: `it was left out: ${reason}` })
      onLost?.({ subject: 'tensor', name: arrayName(member), reason })
    }
  }

  #addUnread(member: ZipMember, error: TareError): void {
    const { name, size } = member
    const reason = error.finding.message
    this.#unlike.set(member, [])
    this.#unread.push({ member, error })
    this.flaws.push(error.finding)
    if (this.#context.onLost) return
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

  #addArray(member: ZipMember, head: Uint8Array, report: ArrayReport): void {
    const { extents } = this.#context
    const header = this.#header(head, report)
    const length = dataLength(header)
    checkLength(header, member.size, report)
    const elements = memberPayload(this.#source, member, header.dataOffset, length)
    const name = arrayName(member)
    const tensors = header.fields
      ? fieldTensors(header, elements, (field) => (field === '' ? name : `${name}.${field}`), report)
      : [arrayTensor(name, header, elements, report)]
    if (member.isDeflated) this.#record(member)
    else if (extents) recordArray(extents, this.#source.name, member.dataOffset, header, length, member.path)
    if (header.fields) {
      const details = placeIn(member, describeRecords(header))
      this.flaws.push(findingOf(npyHeaderCodes.structured, details, this.#source.name))
      const names = tensors.map((tensor) => tensor.name)
      this.#unlike.set(member, names)
    }
    for (const tensor of tensors) {
      this.#checkName(tensor.name, member)
      this.tensors.push(tensor)
    }
  }

  #header(head: Uint8Array, report: ArrayReport): NpyHeader {
    const end = npyHeaderEnd(head) ?? Number.POSITIVE_INFINITY
    if (end > head.byteLength) return parseNpyHeader(head, report)
    const text = decodeUtf8(head.subarray(6, end)) // from the version on
    const known = text === undefined ? undefined : this.#headers.get(text)
    if (known) return known
    const header = parseNpyHeader(head, report)
    if (text !== undefined && report.isSilent && this.#headers.size < maxHeaders) this.#headers.set(text, header)
    return header
  }

  #checkName(name: string, member: ZipMember): void {
    // Arrays that are all called after their members have as many names as these.
    const isCalledAfter = member.name.length === name.length + extension.length && member.name.endsWith(extension)
    if (!this.#names && isCalledAfter && !this.#hasRepeats) return
    this.#names ??= new Set(this.tensors.map((tensor) => tensor.name))
    const { size } = this.#names
    if (this.#names.add(name).size > size) return
    const { entryOffset: offset, path } = member
    const message = `the array ${JSON.stringify(name)} was there before`
    this.#context.report.report(codes['duplicate-name'], { offset, path, message })
  }

  #addOther(member: ZipMember): void {
    this.#unlike.set(member, [])
    this.#record(member)
    const isFolder = member.size === 0 && member.name.endsWith('/')
    if (isFolder || member.name === stowageFile) return
    const { entryOffset: offset, path, name, size } = member
    this.#context.report.report(codes.member, { offset, path, message: `${JSON.stringify(name)} is not an array` })
    const data = memberPayload(this.#source, member)
    this.parts.push({ kind: memberKind, sharing: 'private', name, value: { bytes: size }, data })
  }

  #record({ dataOffset: offset, storedSize: length, path }: ZipMember): void {
    this.#context.extents?.add({ file: this.#source.name, offset, length, path: `${path}.data`, kind: 'data' })
  }
}

const isNamed = ({ name }: ZipMember): boolean => name.slice(-extension.length).toLowerCase() === extension
const arrayName = (member: ZipMember): string =>
  isNamed(member) ? member.name.slice(0, -extension.length) : member.name

const arrayCodes: ReadonlySet<string> = new Set(Object.values(npyCodes).map(({ code }) => code))
/** Whether the error is about the array and not about the archive around it. */
const isAboutArray = ({ code }: TareError): boolean => arrayCodes.has(code)

/** Where a finding about the content of a member is in the file: exactly for stored ones, at their beginning for deflated ones. */
function placeIn({ dataOffset, isDeflated, path }: ZipMember, details: Details): Details {
  const inner = details.path ? `${path}.${details.path}` : path
  if (!isDeflated) return { ...details, offset: dataOffset + (details.offset ?? 0), path: inner }
  const { length: _length, ...rest } = details
  return { ...rest, offset: dataOffset, path: inner }
}

/** Reports about one array, at their place in the file. The first error is thrown: the caller leaves the array out and reports why. */
class ArrayReport implements Report {
  readonly strict = true
  /** Whether nothing was reported so far. */
  isSilent = true
  readonly #report: Report
  readonly #member: ZipMember

  constructor(report: Report, member: ZipMember) {
    this.#report = report
    this.#member = member
  }

  get file(): string {
    return this.#report.file
  }

  report(code: Code, details: Details): void {
    this.isSilent = false
    if (code.severity === 'error') this.fail(code, details)
    this.#report.report(code, placeIn(this.#member, details))
  }

  fail(code: Code, details: Details): never {
    throw new TareError(findingOf(code, placeIn(this.#member, details), this.file))
  }

  forFile(file: string): Report {
    return new ArrayReport(this.#report.forFile(file), this.#member)
  }
}
