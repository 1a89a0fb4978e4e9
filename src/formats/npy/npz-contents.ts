// The members of an NPZ file as tensors and parts. An array that cannot be read is left out; the others are read.
import { type ByteSource, decodeUtf8 } from '../../bytes/index.js'
import { type Code, type Details, type Finding, findingOf, type Report, TareError } from '../../errors/index.js'
import type { Part, ReadContext, Tensor } from '../../model/index.js'
import { memberPayload, reportZipFailure } from '../../payloads/zip-payload.js'
import { npyHeaderCodes } from '../../wire/npy/codes.js'
import { startsLikeNpy } from '../../wire/npy/header.js'
import { type NpyHeader, npyHeadSize, parseNpyHeader } from '../../wire/npy/parse.js'
import { readMemberHead, type ZipMember } from '../../wire/zip/zip.js'
import { arrayTensor, checkLength, dataLength, describeRecords, fieldTensors, recordArray } from './array.js'
import { ownNpzCodes as codes, npyCodes } from './codes.js'
import { extension, memberKind, stowageFile, unreadKind } from './names.js'

/** Nearly every header fits; longer ones cost a second read. */
const firstRead = 1024
/** The most that one read brings for several members. */
const maxTogether = 1 << 18
const maxHeaders = 1 << 10

export class Contents {
  readonly tensors: Tensor[] = []
  readonly parts: Part[] = []
  readonly tensorsIn = new Map<ZipMember, string[]>()
  readonly flaws: Finding[] = []
  readonly #unread: { readonly member: ZipMember; readonly error: TareError }[] = []
  readonly #source: ByteSource
  readonly #context: ReadContext
  readonly #names = new Set<string>()
  /** Headers without anything to report, by their text: those of a model are mostly alike. */
  readonly #headers = new Map<string, NpyHeader>()

  constructor(source: ByteSource, context: ReadContext) {
    this.#source = source
    this.#context = context
  }

  /** For each of some members, enough of its content to hold the header; undefined when it cannot be inflated, which is reported. */
  async heads(members: readonly ZipMember[]): Promise<(Uint8Array | undefined)[]> {
    const { dataOffset: start } = members[0]!
    const last = members.at(-1)!
    const end = last.dataOffset + Math.min(firstRead, last.storedSize)
    // Small arrays lie close together: one read brings the headers of many.
    const isClose = members.every(
      ({ dataOffset, isDeflated }) => !isDeflated && dataOffset >= start && dataOffset < end,
    )
    const together = isClose && end - start <= maxTogether ? await this.#source.read(start, end - start) : undefined
    return Promise.all(members.map((member) => this.#head(member, together?.subarray(member.dataOffset - start))))
  }

  async #head(member: ZipMember, known: Uint8Array | undefined): Promise<Uint8Array | undefined> {
    const { signal, report } = this.#context
    const read = (length: number): Promise<Uint8Array> => readMemberHead(this.#source, member, length, signal)
    try {
      const first = Math.min(firstRead, member.size)
      const head = known && known.byteLength >= first ? known.subarray(0, first) : await read(firstRead)
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
    const report = placed(endingWithErrors(this.#context.report), member)
    try {
      this.#addArray(member, head, report)
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

  #addArray(member: ZipMember, head: Uint8Array, report: Report): void {
    const { extents } = this.#context
    const header = this.#header(head, report)
    const length = dataLength(header)
    checkLength(header, member.size, report)
    const elements = memberPayload(this.#source, member, header.dataOffset, length)
    const name = arrayName(member)
    const tensors = header.fields
      ? fieldTensors(header, elements, (field) => (field === '' ? name : `${name}.${field}`), report)
      : [{ name, ...arrayTensor(header, elements, report) }]
    if (member.isDeflated) this.#record(member)
    else recordArray(extents, this.#source.name, member.dataOffset, header, length, member.path)
    if (header.fields) {
      const details = placeIn(member, describeRecords(header))
      this.flaws.push(findingOf(npyHeaderCodes.structured, details, this.#source.name))
    }
    const names = tensors.map((tensor) => tensor.name)
    for (const each of names) this.#checkName(each, member)
    this.tensors.push(...tensors)
    this.tensorsIn.set(member, names)
  }

  #header(head: Uint8Array, report: Report): NpyHeader {
    const isWhole = startsLikeNpy(head) && head.byteLength >= 12 && headerEnd(head) <= head.byteLength
    const text = isWhole ? decodeUtf8(head.subarray(6, headerEnd(head))) : undefined // from the version on
    const known = text === undefined ? undefined : this.#headers.get(text)
    if (known) return known
    let isSilent = true
    const listening: Report = {
      ...report,
      report(code, details) {
        isSilent = false
        report.report(code, details)
      },
    }
    const header = parseNpyHeader(head, listening)
    if (text !== undefined && isSilent && this.#headers.size < maxHeaders) this.#headers.set(text, header)
    return header
  }

  #checkName(name: string, { entryOffset: offset, path }: ZipMember): void {
    if (this.#names.has(name)) {
      const message = `the array ${JSON.stringify(name)} was there before`
      this.#context.report.report(codes['duplicate-name'], { offset, path, message })
    }
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

const arrayCodes: ReadonlySet<string> = new Set(Object.values(npyCodes).map(({ code }) => code))
/** Whether the error is about the array and not about the archive around it. */
const isAboutArray = ({ code }: TareError): boolean => arrayCodes.has(code)

/** Where the header ends, going by its length field. */
function headerEnd(head: Uint8Array): number {
  const view = new DataView(head.buffer, head.byteOffset, head.byteLength)
  return head[6] === 1 ? 10 + view.getUint16(8, true) : 12 + view.getUint32(8, true)
}

/** Where a finding about the content of a member is in the file: exactly for stored ones, at their beginning for deflated ones. */
function placeIn({ dataOffset, isDeflated, path }: ZipMember, details: Details): Details {
  const inner = details.path ? `${path}.${details.path}` : path
  if (!isDeflated) return { ...details, offset: dataOffset + (details.offset ?? 0), path: inner }
  const { length: _length, ...rest } = details
  return { ...rest, offset: dataOffset, path: inner }
}

function placed(report: Report, member: ZipMember): Report {
  return {
    file: report.file,
    strict: report.strict,
    report: (code, details) => report.report(code, placeIn(member, details)),
    fail: (code, details) => report.fail(code, placeIn(member, details)),
    forFile: (file) => report.forFile(file),
  }
}

/** Throws the first error of an array. The caller leaves the array out and reports why. */
function endingWithErrors(report: Report): Report {
  const fail = (code: Code, details: Details): never => {
    throw new TareError(findingOf(code, details, report.file))
  }
  return {
    file: report.file,
    strict: true,
    report: (code, details) => (code.severity === 'error' ? fail(code, details) : report.report(code, details)),
    fail,
    forFile: (file) => endingWithErrors(report.forFile(file)),
  }
}
