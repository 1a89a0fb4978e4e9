// The vocabulary section: token count, total size of the tokens, offset of the special ids; then, in either order, a block of five
// special ids and the tokens, each a length u16 and its bytes.
//
// The document does not say where the block of special ids lies nor what its offset counts from. It is looked for in both places, the
// front and the back of the section, and by both readings of the offset; the first that leaves the tokens exactly enough room is it.
import { Cursor, decodeLossy } from '../../../bytes/index.js'
import {
  findSpecialIds,
  type SpecialIds,
  specialNames,
  specialTexts,
  TokenTable,
  vocabularyPart,
} from '../../../content/vocabulary.js'
import type { Part, ReadContext } from '../../../model/index.js'
import { codes } from '../codes.js'
import { specialBlock, vocabHeader } from '../structs.js'

/** A place for tokens within the section, and for the block of special ids, if there is one. */
interface Place {
  readonly start: number
  readonly end: number
  readonly special?: number
}

interface Section {
  readonly bytes: Uint8Array
  readonly offset: number
  readonly count: number
  readonly totalSize: number
  readonly context: ReadContext
}

export interface VocabSection {
  readonly part: Part
  readonly count: number
  /** Whether the tokens fill the section as they should. */
  readonly isWhole: boolean
}

/** `bytes` is the whole section, at `offset` in the file. undefined when no vocabulary can be made of it. */
export function readVocab(bytes: Uint8Array, offset: number, context: ReadContext): VocabSection | undefined {
  const cursor = new Cursor(bytes, context.report, { base: offset, extents: context.extents, path: ['vocab'] })
  const { tokenCount: count, totalSize, specialTokens } = vocabHeader.read(cursor)
  const section: Section = { bytes, offset, count, totalSize, context }
  const places = possiblePlaces(specialTokens, offset, bytes.byteLength)
  if (places.length === 0) {
    const message = `special_tokens is ${specialTokens}; neither from the file's start nor from the section's is there room for the ids`
    context.report.report(codes['special-range'], {
      offset: offset + 8,
      length: 4,
      path: 'vocab.special_tokens',
      message,
    })
    return undefined
  }
  const walks = places.map((each) => ({ place: each, ...walkTokens(section, each) }))
  const { place, table, reached, failed } = walks.find((walk) => walk.reached === walk.place.end) ?? walks[0]!
  if (!table) {
    const message = `token ${failed} of ${count} runs past the end of the section`
    context.report.report(codes['vocab-entries'], {
      offset: offset + reached,
      path: `vocab.tokens[${failed}]`,
      message,
    })
    return undefined
  }
  const isWhole = checkSizes(section, place, reached)
  recordTokens(section, table, place)
  return { part: vocabularyPart(table, readSpecialIds(section, table, place)), count, isWhole }
}

function possiblePlaces(specialTokens: number, offset: number, size: number): Place[] {
  const front = vocabHeader.size
  if (specialTokens === 0) return [{ start: front, end: size }]
  const places: Place[] = []
  for (const special of [specialTokens - offset, specialTokens]) {
    if (special < front || special + specialBlock.size > size) continue
    if (special === front) places.push({ start: front + specialBlock.size, end: size, special })
    if (special === size - specialBlock.size) places.push({ start: front, end: special, special })
  }
  return places
}

interface TokenWalk {
  /** Missing when a token runs past the place. */
  readonly table?: TokenTable
  /** Where the tokens end, or where the one begins that runs past. */
  readonly reached: number
  readonly failed?: number
}

function walkTokens({ bytes, count }: Section, { start, end }: Place): TokenWalk {
  // Every token has a length of two bytes: nothing is allocated for a count that cannot be.
  const possible = Math.min(count, Math.floor((end - start) / 2))
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const starts = new Uint32Array(possible)
  const ends = new Uint32Array(possible)
  let at = start
  for (let id = 0; id < count; id++) {
    if (at + 2 > end || at + 2 + view.getUint16(at, true) > end) return { reached: at, failed: id }
    starts[id] = at + 2
    at += 2 + view.getUint16(at, true)
    ends[id] = at
  }
  return { table: new TokenTable(bytes, starts, ends), reached: at }
}

function checkSizes({ offset, count, totalSize, context }: Section, { start, end }: Place, reached: number): boolean {
  const { report } = context
  if (totalSize !== reached - start) {
    const message = `total_size is ${totalSize}, but ${count} tokens take ${reached - start} bytes`
    report.report(codes['vocab-total-size'], { offset: offset + 4, length: 4, path: 'vocab.total_size', message })
  } else if (reached < end) {
    const message = `${end - reached} bytes follow the last of ${count} tokens`
    report.report(codes['vocab-entries'], { offset: offset + reached, path: 'vocab.token_count', message })
  }
  return totalSize === reached - start && reached === end
}

function readSpecialIds({ bytes, offset, count, context }: Section, table: TokenTable, place: Place): SpecialIds {
  if (place.special === undefined) return findSpecialIds(table)
  const { report, extents } = context
  const start = place.special
  const block = bytes.subarray(start, start + specialBlock.size)
  const cursor = new Cursor(block, report, { base: offset + start, extents, path: ['vocab', 'special'] })
  const values = specialBlock.read(cursor)
  const ids: Record<string, number> = {}
  for (const name of specialNames) {
    const id = values[`${name}Id`]
    const details = {
      offset: offset + start + specialBlock.offsetOf(`${name}Id`),
      length: 4,
      path: `vocab.special.${name}_id`,
    }
    if (id >= count) {
      report.report(codes['special-id'], { ...details, message: `id ${id}, but there are only ${count} tokens` })
      continue
    }
    ids[name] = id
    const text = decodeLossy(table.token(id))
    if (text === specialTexts[name]) continue
    const message = `token ${id} is ${JSON.stringify(text)}, not ${JSON.stringify(specialTexts[name])}`
    report.report(codes['special-text'], { ...details, message })
  }
  return ids
}

function recordTokens({ offset, context }: Section, table: TokenTable, { start }: Place): void {
  const { extents, report } = context
  if (!extents) return
  let at = offset + start
  for (let id = 0; id < table.count; id++) {
    const token = table.token(id)
    const length = token.byteLength + 2
    extents.add({
      file: report.file,
      offset: at,
      length,
      path: `vocab.tokens[${id}]`,
      kind: 'field',
      value: decodeLossy(token),
    })
    at += length
  }
}
