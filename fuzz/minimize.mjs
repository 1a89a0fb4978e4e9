// Makes a failing input smaller while it still breaks the same promise.
import { Random } from './random.mjs'
import { targetOf } from './targets/index.mjs'

const maxSeconds = 15
const draws = 24

export async function minimize(input, target, promise) {
  const { check } = targetOf(target)
  let best = input.bytes
  const end = performance.now() + 1000 * maxSeconds
  // What an input is converted to is drawn: a few draws find it again.
  const stillBreaks = async (candidate) => {
    for (let seed = 1; seed <= draws; seed++) {
      try {
        await check({ ...input, bytes: candidate }, new Random(seed * 7919))
      } catch (error) {
        if (error?.promise === promise) return true
      }
    }
    return false
  }
  for (let length = best.length >> 1; length >= 1 && performance.now() < end; length >>= 1) {
    for (let at = 0; at + length <= best.length && performance.now() < end; ) {
      const shorter = new Uint8Array([...best.subarray(0, at), ...best.subarray(at + length)])
      if (await stillBreaks(shorter)) best = shorter
      else at += length
    }
  }
  return best
}
