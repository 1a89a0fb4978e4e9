// One of our own digests over bytes in memory, against the packages that could do it instead. Prints the best time of each.
import { createRequire } from 'node:module'
import { crc32 } from 'node:zlib'
import { createBLAKE3, createCRC32, createSHA256 } from 'hash-wasm'
import { portableDigests } from '../../dist/digest/portable.js'
import { answer } from '../harness/measure.mjs'

const [kernel, size] = [process.argv[2], Number(process.argv[3])]
const window = new Uint8Array(new WebAssembly.Memory({ initial: 16, maximum: 16 }).buffer)
for (let i = 0; i < window.byteLength; i++) window[i] = (i * 2654435761) >>> 13

const passes = {
  tare: async () => {
    const hasher = await portableDigests[kernel].create()
    repeat((bytes) => hasher.update(bytes))
    return Buffer.from(hasher.digest()).toString('hex')
  },
}
const foreign = await { blake3: createBLAKE3, crc32: createCRC32, sha256: createSHA256 }[kernel]()
passes['hash-wasm'] = async () => {
  foreign.init()
  repeat((bytes) => foreign.update(bytes))
  return foreign.digest('hex')
}
if (kernel === 'crc32') {
  passes['zlib.crc32'] = async () => {
    let value = 0
    repeat((bytes) => {
      value = crc32(bytes, value)
    })
    return value.toString(16).padStart(8, '0')
  }
} else if (kernel === 'blake3') {
  const native = loadNative()
  if (native) {
    passes['@napi-rs/blake-hash'] = async () => {
      const hasher = new native.Blake3Hasher()
      repeat((bytes) => hasher.update(bytes))
      return hasher.digest('hex')
    }
  }
}

function loadNative() {
  try {
    return createRequire(import.meta.url)('@napi-rs/blake-hash')
  } catch {
    return undefined
  }
}

function repeat(update) {
  for (let done = 0; done < size; done += window.byteLength) update(window)
}

const best = {}
for (let round = 0; round < 7; round++) {
  let expected
  for (const [name, pass] of Object.entries(passes)) {
    const start = performance.now()
    const digest = await pass()
    const seconds = (performance.now() - start) / 1000
    best[name] = Math.min(best[name] ?? Number.POSITIVE_INFINITY, seconds)
    expected ??= digest
    if (digest !== expected) throw new Error(`${name} gives ${digest}, not ${expected}`)
  }
}
const { tare, ...yardsticks } = best
answer({ tare, yardsticks, bytes: size })
