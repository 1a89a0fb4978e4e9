import fc from 'fast-check'
import { beforeAll, expect, test } from 'vitest'
import { type Algorithm, algorithms, createHasher, digestProviderName } from '../../src/digest/index.js'
import { portableDigests } from '../../src/digest/portable.js'
import { registerNodeDigests } from '../../src/node/digests.js'

beforeAll(registerNodeDigests)

const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex')

test.each<[Algorithm, string]>([
  ['crc32', 'cbf43926'],
  ['sha256', '15e2b0d3c33891ebb0f1ef609ec419420c20e320ce94c65fbc8c3312448eb225'],
  ['blake3', 'b7d65b48420d1033cb2595293263b6f72eabee20d55e699d0df1973b3c9deed1'],
])('%s of "123456789"', async (algorithm, expected) => {
  const hasher = await createHasher(algorithm)
  hasher.update(new TextEncoder().encode('12345'))
  hasher.update(new TextEncoder().encode('6789'))
  expect(hex(hasher.digest())).toBe(expected)
})

test.each(algorithms)('%s agrees with the portable one, however the bytes are cut', async (algorithm) => {
  const property = fc.asyncProperty(fc.array(fc.uint8Array({ maxLength: 9000 }), { maxLength: 4 }), async (chunks) => {
    const native = await createHasher(algorithm)
    const portable = await portableDigests[algorithm].create()
    for (const chunk of chunks) native.update(chunk)
    portable.update(Uint8Array.from(chunks.flatMap((chunk) => [...chunk])))
    expect(hex(native.digest())).toBe(hex(portable.digest()))
  })
  await fc.assert(property, { numRuns: 30 })
})

test('hashers that follow each other or run side by side have nothing to do with each other', async () => {
  const bytes = new TextEncoder().encode('123456789')
  const expected = 'b7d65b48420d1033cb2595293263b6f72eabee20d55e699d0df1973b3c9deed1'
  const first = await createHasher('blake3')
  first.update(bytes)
  const digest = first.digest()
  expect(hex(digest)).toBe(expected)
  const [second, third] = [await createHasher('blake3'), await createHasher('blake3')]
  second.update(bytes.subarray(0, 4))
  third.update(bytes)
  second.update(bytes.subarray(4))
  expect(() => first.update(bytes)).toThrow('taken already')
  expect(hex(first.digest())).toBe(expected)
  expect(hex(second.digest())).toBe(expected)
  expect(hex(third.digest())).toBe(expected)
})

test('says what it runs on', async () => {
  expect(await digestProviderName('sha256')).toBe('node:crypto')
  expect(await digestProviderName('crc32')).toBe('node:zlib')
  expect(await digestProviderName('blake3')).toMatch(/^(@napi-rs\/blake-hash|WebAssembly)$/)
})
