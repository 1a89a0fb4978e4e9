// A safetensors file is: a u64 length, that many bytes of JSON, and the tensors' bytes.
//
// The JSON maps each tensor's name to {"dtype", "shape", "data_offsets": [begin, end]}, offsets counted from the end of the header.
// The name `__metadata__` is reserved for a map of strings to strings. The ranges must tile the data section: no holes, no overlap,
// nothing after the last one. The header may end in spaces, which is how writers align the data.
import { maxSafe } from '../../bytes/index.js'
import { hashOfBytes, NameSet } from '../../bytes/name-set.js'
import type { ReadContext } from '../../model/index.js'
import type { JsonScanner } from '../../wire/index.js'
import { codes } from './codes.js'
import { type Tag, tagByName } from './dtypes.js'
import { metadataKey } from './limits.js'

/** The name of a tensor and where it stands. The object is used again for the next one. */
export interface EntryName {
  readonly name: string
  /** The place of the entry in the header text. */
  readonly at: number
  /** What has the characters of the name as bytes, and where they begin; undefined where they are written in another way. */
  readonly bytes: Uint8Array | undefined
  readonly start: number
}

/** Takes the tensors as they are met; offsets are relative to the data section. */
export type EntryVisitor = (key: EntryName, tag: Tag, shape: readonly number[], begin: number, end: number) => void

export interface Header {
  readonly metadata: Map<string, string>
  /** Text index where the JSON value ends and padding begins. */
  readonly end: number
  /** Text index where each member of the top object ends, with its name; only kept for the byte map. */
  readonly members: { readonly name: string; readonly end: number }[]
  readonly scanner: JsonScanner
}

/** Going back in a text that is not ASCII takes as long as the text is; a file of nothing but repeated names must not make that quadratic. */
const maxRepeats = 100
/** What an entry takes in the header, about. */
const usualEntry = 96

export const entryPath = (name: string): string => `header[${JSON.stringify(name)}]`

export function parseHeader(scanner: JsonScanner, context: ReadContext, visit: EntryVisitor): Header {
  const { report } = context
  const metadata = new Map<string, string>()
  const members: Header['members'] = []
  let repeats = 0
  const seen = new NameSet((keyIndex) => scanner.keyAt(keyIndex), Math.floor(scanner.length / usualEntry))
  const key = { name: '', at: 0, bytes: undefined as Uint8Array | undefined, start: 0 }
  const withMembers = context.extents !== undefined
  if (scanner.peek('header') !== 'object') scanner.syntax('an object', 'header')
  if (scanner.index > 0) {
    report.report(codes['header-start'], {
      offset: scanner.offsetAt(0),
      path: 'header',
      message: 'white space comes before the "{"',
    })
  }
  scanner.beginObject('header')
  for (;;) {
    const at = scanner.index
    const name = scanner.nextKey('header')
    if (name === undefined) break
    key.name = name
    key.at = at
    key.bytes = scanner.keyBytes
    key.start = scanner.keyIndex + 1
    const hash = key.bytes && hashOfBytes(key.bytes, key.start, key.start + name.length)
    const first = seen.add(name, scanner.keyIndex, hash)
    if (name === metadataKey) readMetadata(scanner, metadata, first !== undefined, at, context)
    else {
      if (first !== undefined && repeats++ < maxRepeats) {
        const message = `${JSON.stringify(name)} was there before, at 0x${scanner.offsetAt(first).toString(16)}`
        complain(scanner, context, 'duplicate-name', entryPath(name), message, at)
      }
      if (name === '') complain(scanner, context, 'name-empty', entryPath(name), 'the name is empty', at)
      readEntry(scanner, key, context, visit)
    }
    if (withMembers) members.push({ name, end: scanner.index })
  }
  const end = scanner.end('header')
  checkPadding(scanner, end, context)
  return { metadata, members, end, scanner }
}

function checkPadding(scanner: JsonScanner, end: number, { report }: ReadContext): void {
  for (let i = end; i < scanner.length; i++) {
    if (scanner.unitAt(i) === 0x20) continue
    const message = 'the header is padded with white space that is not a space'
    report.report(codes['header-padding'], { offset: scanner.offsetAt(i), path: 'header', message })
    return
  }
}

function readMetadata(
  scanner: JsonScanner,
  metadata: Map<string, string>,
  again: boolean,
  at: number,
  { report }: ReadContext,
): void {
  const path = entryPath(metadataKey)
  if (again)
    report.fail(codes['metadata-twice'], { offset: scanner.offsetAt(at), path, message: '__metadata__ stands twice' })
  const kind = scanner.peek(path)
  const offset = scanner.offsetAt()
  if (kind === 'null') {
    scanner.literal('null', path)
    report.report(codes['metadata-null'], { offset, path, message: 'null where an object of strings belongs' })
    return
  }
  if (kind !== 'object') {
    report.report(codes['metadata-type'], { offset, path, message: `an object of strings was expected, ${kind} found` })
    scanner.skip(path)
    return
  }
  scanner.beginObject(path)
  for (;;) {
    const keyAt = scanner.index
    const key = scanner.nextKey(path)
    if (key === undefined) return
    const inside = `${path}[${JSON.stringify(key)}]`
    const valueKind = scanner.peek(inside)
    if (metadata.has(key)) {
      const message = `the key ${JSON.stringify(key)} stands twice`
      report.report(codes['duplicate-metadata'], { offset: scanner.offsetAt(keyAt), path: inside, message })
    }
    if (valueKind === 'string') metadata.set(key, scanner.string(inside))
    else {
      const message = `a string was expected, ${valueKind} found`
      report.report(codes['metadata-type'], { offset: scanner.offsetAt(), path: inside, message })
      scanner.skip(inside)
    }
  }
}

// This runs once per tensor, a million times in a large file: nothing is allocated here that does not stay.
function readEntry(scanner: JsonScanner, key: EntryName, context: ReadContext, visit: EntryVisitor): void {
  const { name } = key
  if (scanner.peek('header') !== 'object') {
    complain(scanner, context, 'entry-type', entryPath(name), `an object was expected, ${scanner.peek('header')} found`)
    scanner.skip(entryPath(name))
    return
  }
  let tag: Tag | undefined
  let shape: readonly number[] | undefined
  let begin = -1
  let end = -1
  let given = 0
  let isGood = true
  scanner.beginObject('header')
  for (;;) {
    const fieldName = usualKey(scanner, given) ?? scanner.nextKey('header')
    if (fieldName === undefined) break
    const start = scanner.index
    const field = fieldBits.get(fieldName) ?? 0
    if (field !== 0 && Math.floor(given / field) % 2 === 1) {
      complain(scanner, context, 'field-twice', `${entryPath(name)}.${fieldName}`, `${fieldName} stands twice`, start)
      isGood = false
    } else given += field
    if (field === 1) {
      if (scanner.peek('header') === 'string') tag = tagByName.get(scanner.string('header'))
      else scanner.skip('header')
      if (!tag) {
        const message = `${scanner.slice(start, scanner.index).trim()} is not a safetensors dtype`
        complain(scanner, context, 'dtype', `${entryPath(name)}.dtype`, message, start)
      }
    } else if (field === 2) {
      const rank = scanner.unsignedList(scratch, 'header')
      if (rank >= 0) shape = shapeOf(rank)
      else
        complain(
          scanner,
          context,
          'shape',
          `${entryPath(name)}.shape`,
          'a list of whole unsigned numbers was expected',
          start,
        )
    } else if (field === 4) {
      if (scanner.unsignedList(scratch, 'header') === 2) {
        begin = scratch[0]!
        end = scratch[1]!
      } else
        complain(
          scanner,
          context,
          'range',
          `${entryPath(name)}.data_offsets`,
          'two whole unsigned offsets were expected',
          start,
        )
    } else {
      complain(scanner, context, 'field-unknown', `${entryPath(name)}.${fieldName}`, 'no such field is known', start)
      scanner.skip('header')
    }
  }
  if (given !== 7) {
    const missing = [...fieldBits].filter(([, bit]) => Math.floor(given / bit) % 2 === 0).map(([key]) => key)
    complain(scanner, context, 'field-missing', entryPath(name), `${missing.join(' and ')} missing`, key.at)
  } else if (isGood && tag && shape && begin >= 0) visit(key, tag, shape, begin, end)
}

const fieldBits: ReadonlyMap<string, number> = new Map([
  ['dtype', 1],
  ['shape', 2],
  ['data_offsets', 4],
])

function complain(
  scanner: JsonScanner,
  { report }: ReadContext,
  code: keyof typeof codes,
  path: string,
  message: string,
  index = scanner.index,
): void {
  report.report(codes[code], { offset: scanner.offsetAt(index), path, message })
}

/** Writers list the fields in this order; then no string is made for the key. */
function usualKey(scanner: JsonScanner, given: number): string | undefined {
  const next = given === 0 ? 'dtype' : given === 1 ? 'shape' : given === 3 ? 'data_offsets' : undefined
  return next !== undefined && scanner.takeKey(next) ? next : undefined
}

// Reused for every list, so that each shape is copied at its exact length.
const scratch: number[] = []

let lastShape: readonly number[] = []

/** Neighbours often have the same shape, and then the same list. */
function shapeOf(rank: number): readonly number[] {
  let isSame = rank === lastShape.length
  for (let i = 0; isSame && i < rank; i++) isSame = scratch[i] === lastShape[i]
  if (!isSame) lastShape = scratch.slice(0, rank)
  return lastShape
}

/** Sizes that the text can state but no file can have. */
export const isTooLarge = (value: number): boolean => value > maxSafe
