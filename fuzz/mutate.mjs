// Changes that know where the fields of a file are: a count becomes enormous, an offset points past the end, a record is written twice.
// Where the fields are, tare's own byte map says.
import { MemorySource, mapSource } from '../dist/kit.js'
import { archiveOf, membersOf } from './archive.mjs'
import { growText, insertKeepingLengths, widenPickledNumber } from './grow.mjs'
import { joined } from './joined.mjs'
import { overlapMembers } from './overlap.mjs'
import { reseal, restate, sealsOf, sizeFieldsOf } from './reseal.mjs'

/** Larger inputs find nothing that smaller ones do not, and take longer. */
export const maxInput = 32 << 10

/** Where the fields, payloads and gaps of a file are. What cannot be mapped is one piece. */
export async function piecesOf({ bytes, name, siblings }, from) {
  try {
    const { files } = await mapSource(new MemorySource(bytes, name, siblings), { from })
    const extents = files[0].extents.filter(({ length }) => length > 0)
    if (extents.length > 0) return extents
  } catch {
    // A seed that breaks the map is tried as it is; the oracles will speak of it.
  }
  return [{ offset: 0, length: bytes.length, kind: 'data' }]
}

const changes = [
  setNumber,
  setNumber,
  flipBits,
  setBytes,
  cut,
  removePiece,
  repeatPiece,
  swapPieces,
  splice,
  changeText,
  changeDigits,
  changeNumeral,
  changeString,
  copyPiece,
  overlapMembers,
  insertKeepingLengths,
  growText,
  widenPickledNumber,
  changeMember,
]

/** A new input made of a seed: one change, or a few, in the file itself or in one beside it. `others` are seeds to take pieces from. */
export function mutate(seed, others, random) {
  const { bytes, siblings } = seed
  const beside = siblings && random.once(2) ? [...siblings].filter(([name]) => name !== seed.name) : []
  if (beside.length === 0) {
    const input = changed(bytes, seed.pieces, random, others)
    if (!seed.sizes) seed.sizes = sizeFieldsOf(bytes, seed.pieces)
    if (input.length !== bytes.length && !random.once(4)) restate(input, seed.sizes)
    if (!seed.seals) seed.seals = sealsOf(bytes, seed.pieces)
    if (seed.seals.length > 0 && input.length === bytes.length && random.once(2)) reseal(input, seed.seals)
    return { ...seed, base: bytes, bytes: input }
  }
  const [name, content] = random.pick(beside)
  const pieces = [{ offset: 0, length: content.length, kind: 'data' }]
  return { ...seed, siblings: new Map(siblings).set(name, changed(content, pieces, random, others)) }
}

function changed(original, pieces, random, others) {
  let bytes = original
  const count = random.once(3) ? 1 + random.below(4) : 1
  for (let i = 0; i < count; i++) bytes = random.pick(changes)(bytes, pieces, random, others)
  return bytes === original ? bytes.slice() : bytes.subarray(0, maxInput)
}

/** One of an archive, which is sound again around it: as itself any change of lengths ends at a checksum. Pickles are small and say everything. */
function changeMember(bytes, pieces, random, others) {
  const members = membersOf(bytes)
  if (members.length === 0) return flipBits(bytes, pieces, random)
  const pickle = members.find(({ name }) => name.toString().endsWith('/data.pkl'))
  const member = pickle && random.once(2) ? pickle : random.pick(members)
  if (member.data.length === 0) return flipBits(bytes, pieces, random)
  const change = member === pickle && random.once(2) ? widenPickledNumber : random.pick(changes)
  const data = change(member.data, [{ offset: 0, length: member.data.length, kind: 'field' }], random, others)
  return archiveOf(members.map((each) => (each === member ? { ...each, data } : each)))
}

/** Fields are chosen more often than payloads: what they say is acted on. */
export function pickPiece(pieces, bytes, random) {
  for (let tries = 0; tries < 8; tries++) {
    const piece = random.pick(pieces)
    if (piece.offset < bytes.length && (piece.kind === 'field' || random.once(6))) return piece
  }
  return { offset: random.below(Math.max(1, bytes.length)), length: 1, kind: 'data' }
}

/** Numbers at which programs go wrong. */
const numbers = [
  0n,
  1n,
  2n,
  3n,
  4n,
  7n,
  8n,
  16n,
  31n,
  32n,
  64n,
  127n,
  128n,
  255n,
  256n,
  4095n,
  65535n,
  65536n,
  1n << 24n,
  (1n << 31n) - 1n,
  1n << 31n,
].concat([(1n << 32n) - 1n, 1n << 32n, (1n << 53n) - 1n, 1n << 53n, (1n << 63n) - 1n, 1n << 63n, (1n << 64n) - 1n])

function setNumber(bytes, pieces, random) {
  const { offset, length } = pickPiece(pieces, bytes, random)
  const changed = bytes.slice()
  const width = length <= 8 && random.once(2) ? Math.max(1, length) : random.pick([1, 2, 4, 8])
  const size = BigInt(bytes.length)
  const near = [
    size,
    size - 1n,
    size + 1n,
    BigInt(offset),
    size - BigInt(offset),
    BigInt(random.below(bytes.length + 1)),
  ]
  const value = BigInt.asUintN(
    8 * width,
    random.once(3) ? 1n << BigInt(random.below(8 * width)) : random.pick(random.once(2) ? near : numbers),
  )
  const at = offset + (length > width ? random.below(length - width + 1) : 0)
  const isBig = random.once(5)
  for (let i = 0; i < width && at + i < changed.length; i++)
    changed[at + i] = Number((value >> BigInt(8 * (isBig ? width - 1 - i : i))) & 255n)
  return changed
}

function flipBits(bytes, pieces, random) {
  const { offset, length } = pickPiece(pieces, bytes, random)
  const changed = bytes.slice()
  const at = offset + random.below(length)
  if (at < changed.length) changed[at] ^= 1 << random.below(8)
  return changed
}

function setBytes(bytes, pieces, random) {
  const { offset, length } = pickPiece(pieces, bytes, random)
  const changed = bytes.slice()
  const at = offset + random.below(length)
  const value = random.pick([0, 0xff, 0x7f, 0x80, 0x20, 0x0a, 0x22, 0x5c, 0x2e, 0x2f, 0xc0, 0xed, random.below(256)])
  changed.fill(value, at, Math.min(changed.length, at + 1 + random.below(16)))
  return changed
}

function cut(bytes, pieces, random) {
  const { offset, length } = random.pick(pieces)
  return bytes.slice(0, random.once(2) ? offset : offset + random.below(length))
}

function removePiece(bytes, pieces, random) {
  const { offset, length } = pickPiece(pieces, bytes, random)
  return joined(bytes.subarray(0, offset), bytes.subarray(offset + length))
}

function repeatPiece(bytes, pieces, random) {
  const from = random.pick(pieces)
  const piece = bytes.subarray(from.offset, from.offset + from.length)
  const to = random.once(2) ? from.offset + from.length : random.pick(pieces).offset
  return joined(bytes.subarray(0, to), piece, bytes.subarray(to))
}

function swapPieces(bytes, pieces, random) {
  const [a, b] = [random.pick(pieces), random.pick(pieces)].sort((one, other) => one.offset - other.offset)
  if (a.offset + a.length > b.offset) return flipBits(bytes, pieces, random)
  const part = ({ offset, length }) => bytes.subarray(offset, offset + length)
  return joined(
    bytes.subarray(0, a.offset),
    part(b),
    bytes.subarray(a.offset + a.length, b.offset),
    part(a),
    bytes.subarray(b.offset + b.length),
  )
}

/** A field says what another one of its length says: names that should differ are then alike. */
function copyPiece(bytes, pieces, random) {
  const from = pickPiece(pieces, bytes, random)
  const to = random.pick(pieces.filter(({ length, kind }) => length === from.length && kind === 'field'))
  if (!to || to.offset + to.length > bytes.length) return flipBits(bytes, pieces, random)
  const changed = bytes.slice()
  changed.set(bytes.subarray(from.offset, from.offset + from.length), to.offset)
  return changed
}

/** The start of one file and the end of another. */
function splice(bytes, pieces, random, others) {
  const other = random.pick(others)
  const from = random.pick(other.pieces).offset
  return joined(bytes.subarray(0, random.pick(pieces).offset), other.bytes.subarray(from))
}

const fragments = [
  '{',
  '}',
  '[',
  ']',
  ',',
  ':',
  '"',
  '""',
  '\\u0000',
  '\\ud800',
  'null',
  'true',
  '-1',
  '1e999',
  '0.5',
  '18446744073709551616',
  '/../',
  '\u202e',
  '__proto__',
  '\0',
]

/** In text: something that belongs into JSON, at a place where it does not. */
function changeText(bytes, pieces, random) {
  const at = placeOf(bytes, pieces, random, (byte) => byte === 0x22 || byte === 0x2c || byte === 0x3a || byte === 0x7b)
  const fragment = new TextEncoder().encode(random.pick(fragments))
  return joined(bytes.subarray(0, at), fragment, bytes.subarray(at + random.below(2)))
}

/** A number that is written in digits becomes another. */
function changeDigits(bytes, pieces, random) {
  const at = placeOf(bytes, pieces, random, (byte) => byte >= 0x30 && byte <= 0x39)
  const changed = bytes.slice()
  if (at < changed.length) changed[at] = random.pick([0x30, 0x39, 0x31, 0x2d, 0x2e, 0x65])
  return changed
}

const numerals = ['0', '-1', '0.5', '1e999', '2147483648', '9007199254740993', '18446744073709551616', 'null', '"1"']

/** A number that is written in digits becomes another as a whole: one that is a value rather than part of a name or a digest, where there is one. */
function changeNumeral(bytes, pieces, random) {
  const start = pickPiece(pieces, bytes, random).offset
  const text = Buffer.from(bytes.buffer, bytes.byteOffset + start, Math.min(4096, bytes.length - start))
  const values = [...text.toString('latin1').matchAll(/(?<=[:,[(\s])-?\d+(?=[,\])}\s])/g)]
  if (values.length === 0) return setBytes(bytes, pieces, random)
  const { index, 0: numeral } = random.pick(values)
  const at = start + index
  return joined(
    bytes.subarray(0, at),
    new TextEncoder().encode(random.pick(numerals)),
    bytes.subarray(at + numeral.length),
  )
}

/** A string becomes another one of the same text, or two of them: names that should differ are then alike. */
function changeString(bytes, pieces, random) {
  const start = pickPiece(pieces, bytes, random).offset
  const text = Buffer.from(bytes.buffer, bytes.byteOffset + start, Math.min(4096, bytes.length - start))
  const strings = [...text.toString('latin1').matchAll(/"([^"\\]{1,64})"/g)]
  if (strings.length < 2) return setBytes(bytes, pieces, random)
  const [to, from, other] = [random.pick(strings), random.pick(strings), random.pick(strings)]
  const joint = random.pick(['', '', '.', '/', '#'])
  const made = joint === '' ? from[1] : `${from[1]}${joint}${other[1]}`
  const at = start + to.index + 1
  return joined(bytes.subarray(0, at), Buffer.from(made, 'latin1'), bytes.subarray(at + to[1].length))
}

/** Looks on from a random place: a document can be one long piece, and its numbers anywhere in it. */
function placeOf(bytes, pieces, random, isWanted) {
  const { offset, length } = pickPiece(pieces, bytes, random)
  const start = offset + (random.once(2) ? 0 : random.below(length))
  for (let at = start; at < Math.min(bytes.length, start + 512); at++)
    if (isWanted(bytes[at]) && random.once(3)) return at
  return start
}
