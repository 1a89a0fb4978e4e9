// Everything of a model's files that is not a tensor: headers, padding, companion files. Two checkpoints of one training run have the same,
// or differ in a few entries, so it is stored as a difference too: XOR where the lengths are equal, otherwise what is between a common start
// and a common end.
import { defaultWindow, joinBytes, toHex } from '../bytes/index.js'
import { createHasher } from '../digest/index.js'
import { failWith } from '../errors/index.js'
import { bytesPayload, type Payload } from '../model/index.js'
import { deltaCodes } from './codes.js'
import { type Frame, sliceOf } from './cut-model.js'
import { type DeltaFrame, frameKey } from './document.js'
import type { Spool } from './spool.js'
import { unpacked } from './unpack.js'
import { bytesOf, xorInto, xorWindows } from './xor.js'

/** Packs bytes of which the number is known. */
export type Pack = (content: AsyncIterable<Uint8Array>, size: number) => Promise<Payload>

/** What can be read in any order. */
export type Readable = Pick<Frame, 'byteLength' | 'read'>

/** A packed frame up to this is a part of the document; a larger one is an entry of its own. */
const maxInline = 1 << 16

interface MadeFrame {
  readonly frame: DeltaFrame
  readonly payload?: Payload
}

export async function makeFrame(from: Frame, to: Frame, pack: Pack, signal?: AbortSignal): Promise<MadeFrame> {
  const base = { length: from.byteLength, digest: await digestOf(from, signal) }
  const frame = { length: to.byteLength, digest: await digestOf(to, signal), prefix: 0, suffix: 0 }
  if (base.length === frame.length && base.digest === frame.digest) return { frame: { ...frame, base, how: 'base' } }
  if (base.length === frame.length) {
    const difference = xorWindows(sliceOf(from, 0, base.length), sliceOf(to, 0, frame.length), { signal })
    return withPayload({ ...frame, base, how: 'xor' }, await pack(bytesOf(difference), frame.length))
  }
  const { prefix, suffix } = await commonEnds(from, to, signal)
  const middle = frame.length - prefix - suffix
  const packed = await pack(sliceOf(to, prefix, middle).chunks(defaultWindow, signal), middle)
  return withPayload({ ...frame, ...(prefix + suffix > 0 && { base }), how: 'middle', prefix, suffix }, packed)
}

async function withPayload(frame: DeltaFrame, payload: Payload): Promise<MadeFrame> {
  if (payload.byteLength > maxInline) return { frame, payload }
  const pieces: Uint8Array[] = []
  for await (const chunk of payload.chunks(defaultWindow)) pieces.push(Uint8Array.from(chunk))
  return { frame: { ...frame, bytes: joinBytes(pieces) } }
}

async function digestOf(frame: Readable, signal?: AbortSignal): Promise<string> {
  const hasher = await createHasher('blake3')
  for await (const chunk of sliceOf(frame, 0, frame.byteLength).chunks(defaultWindow, signal)) hasher.update(chunk)
  return toHex(hasher.digest())
}

/** How many bytes two frames have in common at their start and, behind that, at their end. */
async function commonEnds(a: Frame, b: Frame, signal?: AbortSignal): Promise<{ prefix: number; suffix: number }> {
  const shorter = Math.min(a.byteLength, b.byteLength)
  let prefix = 0
  for (let isSame = true; isSame && prefix < shorter; ) {
    const count = Math.min(defaultWindow, shorter - prefix)
    const [x, y] = await Promise.all([a.read(prefix, count, signal), b.read(prefix, count, signal)])
    let same = 0
    while (same < count && x[same] === y[same]) same++
    prefix += same
    isSame = same === count
  }
  let suffix = 0
  for (let isSame = true; isSame && prefix + suffix < shorter; ) {
    const count = Math.min(defaultWindow, shorter - prefix - suffix)
    const [x, y] = await Promise.all([
      a.read(a.byteLength - suffix - count, count, signal),
      b.read(b.byteLength - suffix - count, count, signal),
    ])
    let same = 0
    while (same < count && x[count - 1 - same] === y[count - 1 - same]) same++
    suffix += same
    isSame = same === count
  }
  return { prefix, suffix }
}

/** What a frame is restored from. */
export interface FrameInput {
  readonly from: Frame
  /** The entry with its packed bytes, if it has one. */
  readonly entry: Payload | undefined
  readonly spool: Spool
  readonly names: { readonly base: string; readonly delta: string }
  readonly signal?: AbortSignal | undefined
}

/** The frame of the new model, checked against its digest. */
export async function restoreFrame(
  frame: DeltaFrame,
  { from, entry, spool, names, signal }: FrameInput,
): Promise<Readable> {
  if (frame.base && (from.byteLength !== frame.base.length || (await digestOf(from, signal)) !== frame.base.digest)) {
    const message = 'its headers are not those that the delta was made from'
    failWith(deltaCodes['wrong-base'], { file: names.base, message })
  }
  if (frame.how === 'base') return from
  const { bytes } = frame
  const packed = bytes ? bytesPayload(bytes) : entry
  if (!packed) {
    const message = `there is no entry ${frameKey}, which holds the headers`
    return failWith(deltaCodes.syntax, { file: names.delta, path: frameKey, message })
  }
  const stored = frame.length - frame.prefix - frame.suffix
  const content = unpacked(packed, stored, { file: names.delta, path: frameKey, signal })
  const made = frame.how === 'xor' ? xored(content, from, signal) : between(content, from, frame, signal)
  const payload = await spool.add(made)
  const restored = { byteLength: frame.length, read: payload.read!.bind(payload) }
  if (payload.byteLength === frame.length && (await digestOf(restored, signal)) === frame.digest) return restored
  const message = 'the headers that it makes do not have the digest that they should have'
  return failWith(deltaCodes['wrong-result'], { file: names.delta, path: frameKey, message })
}

async function* xored(
  content: AsyncIterable<Uint8Array>,
  from: Frame,
  signal?: AbortSignal,
): AsyncGenerator<Uint8Array, void, void> {
  let at = 0
  for await (const piece of content) {
    const bytes = Uint8Array.from(piece)
    xorInto(bytes, await from.read(at, bytes.byteLength, signal))
    at += bytes.byteLength
    yield bytes
  }
}

async function* between(
  content: AsyncIterable<Uint8Array>,
  from: Frame,
  { prefix, suffix }: DeltaFrame,
  signal?: AbortSignal,
): AsyncGenerator<Uint8Array, void, void> {
  yield* sliceOf(from, 0, prefix).chunks(defaultWindow, signal)
  yield* content
  yield* sliceOf(from, from.byteLength - suffix, suffix).chunks(defaultWindow, signal)
}
