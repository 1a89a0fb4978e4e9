// Makes a failing input smaller while it still breaks the same promise.
import { check } from './oracles.mjs'
import { Random } from './random.mjs'

const maxTries = 2000

export async function minimize(input, format, promise) {
  let best = input.bytes
  let tries = 0
  // Some promises are checked for some inputs only: a few draws find them again.
  const stillBreaks = async (candidate) => {
    for (let seed = 1; seed <= 24; seed++) {
      try {
        await check({ ...input, bytes: candidate }, format, new Random(seed * 7919))
      } catch (error) {
        if (error?.promise === promise) return true
      }
    }
    return false
  }
  for (let length = best.length >> 1; length >= 1 && tries < maxTries; length >>= 1) {
    for (let at = 0; at + length <= best.length && tries < maxTries; ) {
      const shorter = new Uint8Array([...best.subarray(0, at), ...best.subarray(at + length)])
      tries++
      if (await stillBreaks(shorter)) best = shorter
      else at += length
    }
  }
  return best
}
