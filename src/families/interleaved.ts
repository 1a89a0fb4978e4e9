// Several payloads in turns: a run of bytes of the first, one of the second, and so on, over and over. All are read once, from beginning to
// end, whatever the length of the runs.
import { lazyPayload, type Payload } from '../model/index.js'
import { ByteStream } from '../payloads/byte-stream.js'

/** `runs` are the lengths, one for each payload, of which each is made of the same number. */
export function interleaved(parts: readonly Payload[], runs: readonly number[]): Payload {
  const rounds = runs[0] ? parts[0]!.byteLength / runs[0] : 0
  const round = runs.reduce((sum, run) => sum + run, 0)
  return lazyPayload(rounds * round, async function* (signal) {
    const streams = parts.map((part) => new ByteStream(part, signal))
    try {
      yield* round > windowBytes ? inPieces(streams, runs, rounds) : inRounds(streams, runs, rounds)
    } finally {
      for (const stream of streams) await stream.close()
    }
  })
}

const windowBytes = 1 << 20

/** Long runs are passed on as they come. */
async function* inPieces(streams: readonly ByteStream[], runs: readonly number[], rounds: number) {
  for (let i = 0; i < rounds; i++) {
    for (const [part, stream] of streams.entries()) {
      for (let left = runs[part]!; left > 0; ) {
        const piece = await stream.take(left)
        left -= piece.byteLength
        yield piece
      }
    }
  }
}

/** Of short runs many are put together at a time. */
async function* inRounds(streams: readonly ByteStream[], runs: readonly number[], rounds: number) {
  const round = runs.reduce((sum, run) => sum + run, 0)
  const atOnce = Math.max(1, Math.floor(windowBytes / round))
  const target = new Uint8Array(Math.min(atOnce, rounds) * round)
  for (let done = 0; done < rounds; done += atOnce) {
    const count = Math.min(atOnce, rounds - done)
    let start = 0
    for (const [part, stream] of streams.entries()) {
      const run = runs[part]!
      const bytes = await stream.fill(new Uint8Array(count * run))
      scatter(bytes, run, target, start, round)
      start += run
    }
    yield target.subarray(0, count * round)
  }
}

function scatter(bytes: Uint8Array, run: number, target: Uint8Array, start: number, step: number): void {
  for (let from = 0, to = start; from < bytes.byteLength; from += run, to += step) {
    if (run > 16) target.set(bytes.subarray(from, from + run), to)
    else for (let i = 0; i < run; i++) target[to + i] = bytes[from + i]!
  }
}
