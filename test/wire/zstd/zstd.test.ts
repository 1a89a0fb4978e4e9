import fc from 'fast-check'
import { afterEach, describe, expect, it } from 'vitest'
import { encodeZstd } from '../../../src/wire/zstd/encoder.js'
import { decodeZstd, isZstdFault, parseZstdFrame, registerZstdDecoder } from '../../../src/wire/zstd/zstd.js'

const faultOf = async (bytes: Uint8Array, size: number): Promise<string> => {
  const result = await decodeZstd(bytes, size)
  return isZstdFault(result) ? result.fault : 'none'
}

const join = (...parts: readonly Uint8Array[]): Uint8Array => Uint8Array.from(parts.flatMap((part) => [...part]))

/** A frame of raw blocks, with or without its content size. */
function rawFrame(content: Uint8Array, withSize: boolean): Uint8Array {
  const block = Uint8Array.from([1 + content.byteLength * 8, 0, 0])
  const head = withSize ? [0x28, 0xb5, 0x2f, 0xfd, 0x20, content.byteLength] : [0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x00]
  return join(Uint8Array.from(head), block, content)
}

describe('zstd', () => {
  it('gives back what was encoded, with the size in the frame', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 3000 }), fc.integer({ min: 1, max: 19 }), async (bytes, level) => {
        const frame = await encodeZstd(bytes, level)
        const parsed = parseZstdFrame(frame)
        expect(parsed).toMatchObject({
          contentSize: bytes.byteLength,
          byteLength: frame.byteLength,
          hasChecksum: false,
        })
        expect(await decodeZstd(frame, bytes.byteLength)).toEqual(bytes)
      }),
      { numRuns: 40 },
    )
  })

  it('decodes frames that do not state their size', async () => {
    const content = Uint8Array.from([1, 2, 3, 4, 5])
    const frame = rawFrame(content, false)
    expect(parseZstdFrame(frame)).toMatchObject({ contentSize: undefined, windowSize: 1024 })
    expect(await decodeZstd(frame, 5)).toEqual(content)
    expect(await faultOf(frame, 4)).toBe('corrupt')
    expect(await faultOf(frame, 6)).toBe('size')
  })

  it('compares the stated size before anything is allocated', async () => {
    const frame = rawFrame(Uint8Array.from([9, 9, 9]), true)
    expect(await faultOf(frame, 4)).toBe('size')
    expect(await faultOf(frame, 2)).toBe('size')
    const bomb = Uint8Array.from(frame)
    bomb[4] = 0xe0 // eight bytes of content size
    const large = join(bomb.subarray(0, 5), Uint8Array.from([0, 0, 0, 0, 1, 0, 0, 0]), frame.subarray(6))
    expect(parseZstdFrame(large)).toMatchObject({ contentSize: 2 ** 32, maxContent: 3 })
    expect(await faultOf(large, 2 ** 32)).toBe('size')
  })

  it('refuses what follows the frame, a second frame included', async () => {
    const frame = await encodeZstd(new Uint8Array(100))
    expect(await faultOf(join(frame, Uint8Array.from([0])), 100)).toBe('trailing')
    expect(await faultOf(join(frame, frame), 100)).toBe('trailing')
  })

  it('finds damage wherever it is cut or changed, and never hangs', async () => {
    const content = Uint8Array.from({ length: 700 }, (_, i) => (i * i) % 251)
    const frame = await encodeZstd(content)
    for (let end = 0; end < frame.byteLength; end++) expect(await faultOf(frame.subarray(0, end), 700)).toBe('corrupt')
    for (let at = 0; at < frame.byteLength; at++) {
      const changed = frame.slice()
      changed[at] = changed[at]! ^ 0x41
      const result = await decodeZstd(changed, 700)
      if (!isZstdFault(result)) expect(result.byteLength).toBe(700)
    }
  })

  it('knows empty frames', async () => {
    expect(await decodeZstd(await encodeZstd(new Uint8Array(0)), 0)).toEqual(new Uint8Array(0))
    expect(await faultOf(rawFrame(Uint8Array.from([1]), false), 0)).toBe('size')
  })

  it('refuses other bytes, reserved bits, dictionaries and reserved blocks', async () => {
    expect(await faultOf(Uint8Array.from([1, 2, 3, 4, 5, 6]), 0)).toBe('corrupt')
    const frame = rawFrame(Uint8Array.from([7]), true)
    const reserved = frame.slice()
    reserved[4] = 0x28
    expect(await faultOf(reserved, 1)).toBe('corrupt')
    const dictionary = join(Uint8Array.from([0x28, 0xb5, 0x2f, 0xfd, 0x21, 0x05, 0x01]), frame.subarray(6))
    expect(parseZstdFrame(dictionary)).toMatchObject({ dictionaryId: 5, contentSize: 1 })
    expect(await faultOf(dictionary, 1)).toBe('corrupt')
    const block = frame.slice()
    block[6] = 0x0f
    expect(await faultOf(block, 1)).toBe('corrupt')
  })
})

describe('a decoder of the environment', () => {
  const content = Uint8Array.from([1, 2, 3, 4, 5])
  const frame = rawFrame(content, false)
  afterEach(() => registerZstdDecoder(undefined))

  it('is used, and told how much to expect', async () => {
    const asked: number[] = []
    registerZstdDecoder((_, size) => {
      asked.push(size)
      return content
    })
    expect(await decodeZstd(frame, 5)).toBe(content)
    expect(asked).toEqual([5])
  })

  it('is not believed when it gives something else, or nothing', async () => {
    registerZstdDecoder(() => content.subarray(0, 4))
    expect(await faultOf(frame, 5)).toBe('size')
    registerZstdDecoder(() => {
      throw new Error('damaged')
    })
    expect(await faultOf(frame, 5)).toBe('corrupt')
  })
})

it('leaves the environment as it was', async () => {
  const { fetch } = globalThis
  expect(fetch).toBeTypeOf('function')
  expect(await decodeZstd(rawFrame(Uint8Array.of(7), true), 1)).toEqual(Uint8Array.of(7))
  expect(globalThis.fetch).toBe(fetch)
})
