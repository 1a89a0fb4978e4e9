// The values of the header's members: those of a tensor, and the metadata.
import type { Report } from '../../errors/index.js'
import { type MetaValue, text } from '../../model/index.js'
import type { JsonScanner } from '../../wire/index.js'
import { codes } from './codes.js'
import { type Tag, tagByName } from './dtypes.js'
import { metadataKey } from './structs.js'

/** What the header says about one tensor. Offsets count from the start of the data; nothing is compared with the file yet. */
export interface Entry {
  readonly tag: Tag
  readonly shape: readonly number[]
  readonly begin: number
  readonly end: number
}

type Problem = readonly [code: keyof typeof codes, message: string]

export const entryPath = (name: string): string => `header[${JSON.stringify(name)}]`

/** Undefined when something is wrong with the entry, which is reported. `offset` is where the member begins. */
export function readEntry(header: JsonScanner, name: string, offset: number, report: Report): Entry | undefined {
  const kind = header.peek('header')
  if (kind !== 'object') {
    const message = `an object was expected, ${kind} found`
    report.report(codes['entry-type'], { offset: header.offsetAt(), path: entryPath(name), message })
    header.skip(entryPath(name))
    return undefined
  }
  // Null: the field is there, and its value is wrong.
  let tag: Tag | null | undefined
  let shape: readonly number[] | null | undefined
  let range: readonly number[] | null | undefined
  let isTwice = false
  header.beginObject('header')
  for (let field = header.nextKey('header'); field !== undefined; field = header.nextKey('header')) {
    const at = header.index
    const before = field === 'dtype' ? tag : field === 'shape' ? shape : field === 'data_offsets' ? range : undefined
    let problem: Problem | undefined
    if (field === 'dtype') {
      tag = readTag(header)
      if (!tag) problem = ['dtype', `${header.slice(at, header.index).trim()} is not a safetensors dtype`]
    } else if (field === 'shape') {
      shape = header.unsignedList('header') ?? null
      if (!shape) problem = ['shape', 'a list of whole unsigned numbers was expected']
    } else if (field === 'data_offsets') {
      range = readPair(header)
      if (!range) problem = ['range', 'two whole unsigned offsets were expected']
    } else {
      problem = ['field-unknown', 'no such field is known']
      header.skip('header')
    }
    if (before !== undefined) {
      problem = ['field-twice', `${field} appears twice`]
      isTwice = true
    }
    if (problem) {
      const [code, message] = problem
      report.report(codes[code], { offset: header.offsetAt(at), path: `${entryPath(name)}.${field}`, message })
    }
  }
  if (tag === undefined || shape === undefined || range === undefined) {
    const given = { dtype: tag, shape, data_offsets: range }
    const missing = Object.entries(given).flatMap(([field, value]) => (value === undefined ? field : []))
    const message = `${missing.join(' and ')} missing`
    report.report(codes['field-missing'], { offset, path: entryPath(name), message })
    return undefined
  }
  return tag && shape && range && !isTwice ? { tag, shape, begin: range[0]!, end: range[1]! } : undefined
}

function readTag(header: JsonScanner): Tag | null {
  if (header.peek('header') === 'string') return tagByName.get(header.string('header')) ?? null
  header.skip('header')
  return null
}

function readPair(header: JsonScanner): readonly number[] | null {
  const numbers = header.unsignedList('header')
  return numbers?.length === 2 ? numbers : null
}

export function readMetadata(header: JsonScanner, metadata: Map<string, MetaValue>, report: Report): void {
  const path = entryPath(metadataKey)
  const kind = header.peek(path)
  const offset = header.offsetAt()
  if (kind === 'null') {
    header.literal('null', path)
    report.report(codes['metadata-null'], { offset, path, message: 'null where an object of strings belongs' })
    return
  }
  if (kind !== 'object') {
    report.report(codes['metadata-type'], { offset, path, message: `an object of strings was expected, ${kind} found` })
    header.skip(path)
    return
  }
  header.beginObject(path)
  for (;;) {
    const keyOffset = header.offsetAt()
    const key = header.nextKey(path)
    if (key === undefined) return
    const inside = `${path}[${JSON.stringify(key)}]`
    const valueKind = header.peek(inside)
    if (metadata.has(key)) {
      const message = `the key ${JSON.stringify(key)} appears twice`
      report.report(codes['duplicate-metadata'], { offset: keyOffset, path: inside, message })
    }
    if (valueKind === 'string') metadata.set(key, text(header.string(inside)))
    else {
      const message = `a string was expected, ${valueKind} found`
      report.report(codes['metadata-type'], { offset: header.offsetAt(), path: inside, message })
      header.skip(inside)
    }
  }
}

/** Nothing but spaces may follow the JSON. Other white space is read, and said. */
export function checkPadding(header: JsonScanner, report: Report): void {
  const end = header.end('header')
  const at = header.slice(end, header.length).search(/[^ ]/)
  if (at < 0) return
  const message = 'the header is padded with white space that is not a space'
  report.report(codes['header-padding'], { offset: header.offsetAt(end + at), path: 'header', message })
}
