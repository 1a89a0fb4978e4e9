import { expect, test } from 'vitest'
import { type ByteSource, MemorySource } from '../../src/bytes/index.js'
import { ReadBuffers } from '../../src/bytes/read-buffers.js'

const bytes = Uint8Array.from({ length: 256 }, (_, i) => i)

test('reads side by side do not touch each other', async () => {
  const buffers = new ReadBuffers(new MemorySource(bytes))
  const [a, b] = await Promise.all([buffers.read(0, 10, 4), buffers.read(1, 20, 6)])
  expect([...a]).toEqual([10, 11, 12, 13])
  expect([...b]).toEqual([20, 21, 22, 23, 24, 25])
})

test('a buffer is used again while it is large enough', async () => {
  const filled: ArrayBufferLike[] = []
  const buffers = new ReadBuffers(filling((target) => filled.push(target.buffer)))
  for (const length of [8, 4, 16, 16]) await buffers.read(0, 0, length)
  expect(filled[1]).toBe(filled[0])
  expect(filled[2]).not.toBe(filled[1])
  expect(filled[3]).toBe(filled[2])
})

test('a source that cannot fill a buffer is read', async () => {
  const source = filling(() => {})
  const buffers = new ReadBuffers({ ...source, readInto: undefined } as unknown as ByteSource)
  expect([...(await buffers.read(0, 250, 3))]).toEqual([250, 251, 252])
})

function filling(onFill: (target: Uint8Array) => void): ByteSource {
  return {
    name: 'memory',
    size: bytes.byteLength,
    read: async (offset, length) => bytes.slice(offset, offset + length),
    readInto: async (offset, target) => {
      onFill(target)
      target.set(bytes.subarray(offset, offset + target.byteLength))
    },
    close: async () => {},
  }
}
