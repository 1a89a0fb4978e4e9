// Texts of characters that stand in an array one by one. `String.fromCharCode` makes a short text soonest from a plain array, and an array
// that changes its length is slow; so there is one for each length.
import { decodeUtf8 } from './text.js'

/** Longer texts are seldom: nothing is kept for them. */
const maxKept = 256
/** So many arguments a call takes without trouble. */
const unitsTogether = 4096

const rooms: number[][] = []

/** Room for so many code units, to be used at once: the next call may give the same. */
function unitRoom(length: number): number[] {
  const room = rooms[length] ?? new Array<number>(length).fill(0)
  if (length <= maxKept) rooms[length] = room
  return room
}

const textOfRoom = (room: readonly number[]): string => String.fromCharCode.apply(null, room as number[])

type TextOfBytes = (bytes: Uint8Array, from: number, to: number) => string

let nativeText: TextOfBytes | undefined

/** Lets this process make texts of bytes, each of them a character, with something faster than what is below. */
export function registerTextOfBytes(textOf: TextOfBytes): void {
  nativeText = textOf
}

/** The text of code units; bytes stand for the first 256 characters. */
export function textOfUnits(units: Uint8Array | Uint16Array, from: number, to: number): string {
  if (nativeText && units instanceof Uint8Array) return nativeText(units, from, to)
  return plainTextOfUnits(units, from, to)
}

/** The same in any engine. */
export function plainTextOfUnits(units: Uint8Array | Uint16Array, from: number, to: number): string {
  const length = to - from
  if (length > maxKept) return longText(units, from, to)
  const room = unitRoom(length)
  for (let i = 0; i < length; i++) room[i] = units[from + i]!
  return textOfRoom(room)
}

/** The text of a few bytes when all of them are ASCII, as names mostly are: sooner made than by a decoder. */
export function asciiText(bytes: Uint8Array, from: number, to: number): string | undefined {
  const length = to - from
  if (length > maxKept) return undefined
  for (let i = from; i < to; i++) if (bytes[i]! > 0x7f) return undefined
  return textOfUnits(bytes, from, to)
}

function longText(units: Uint8Array | Uint16Array, from: number, to: number): string {
  if (units instanceof Uint8Array) {
    // Much faster where all of it is ASCII, which is nearly always.
    const text = decodeUtf8(units.subarray(from, to))
    if (text?.length === to - from) return text
  }
  let text = ''
  for (let at = from; at < to; at += unitsTogether)
    text += String.fromCharCode(...units.subarray(at, Math.min(at + unitsTogether, to)))
  return text
}
