// The content of a deflated member, as a stream. This sees to it that memory stays bounded, that exactly the promised number of bytes comes
// out, and that every failure is a finding with a place.
import { type ByteSource, streamRange } from '../../bytes/index.js'
import { failWith } from '../../errors/index.js'
import { inflated } from '../deflate/inflate.js'
import { zipCodes as codes } from './codes.js'
import type { ZipMember } from './member.js'

/** Compressed bytes per step: they unfold to at most 16 MiB, should the platform not apply backpressure. */
const inputWindow = 1 << 14

/** The content of a member, in pieces of any size. Breaking off early is cheap. */
export async function* memberContent(
  source: ByteSource,
  member: ZipMember,
  signal?: AbortSignal,
): AsyncGenerator<Uint8Array, void, void> {
  const range = { source, offset: member.dataOffset, length: member.storedSize }
  if (!member.isDeflated) {
    yield* streamRange(range, 1 << 20, signal)
    return
  }
  const place = { file: source.name, offset: member.dataOffset, length: member.storedSize, path: member.path }
  let given = 0
  const fail = (message: string): never => failWith(codes.deflate, { ...place, message })
  for await (const piece of inflated(streamRange(range, inputWindow, signal), 'deflate-raw', fail)) {
    given += piece.byteLength
    if (given > member.size) break
    yield piece
  }
  if (given === member.size) return
  const message = `the directory promises ${member.size} bytes, the data unfold to ${given > member.size ? 'more' : given}`
  failWith(codes.size, { ...place, message })
}

/** The first `length` bytes of a member's content, or all of it when there is less. */
export async function readMemberHead(
  source: ByteSource,
  member: ZipMember,
  length: number,
  signal?: AbortSignal,
): Promise<Uint8Array> {
  const wanted = Math.min(length, member.size)
  if (!member.isDeflated) return source.read(member.dataOffset, wanted, { signal })
  const bytes = new Uint8Array(wanted)
  let at = 0
  for await (const piece of memberContent(source, member, signal)) {
    const part = piece.subarray(0, wanted - at)
    bytes.set(part, at)
    at += part.byteLength
    if (at === wanted && wanted < member.size) break
  }
  return bytes
}
