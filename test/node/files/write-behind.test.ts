import { type FileHandle, open, readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { WriteBehind } from '../../../src/node/files/write-behind.js'
import { useTempDir } from '../temp-dir.js'

const temp = useTempDir()

/** A handle that takes at most `most` bytes at a time and breaks after `limit`. */
function fakeHandle(most: number, limit = Number.POSITIVE_INFINITY) {
  const file = new Uint8Array(8 << 20)
  let taken = 0
  let active = 0
  const seen = { calls: 0, atOnce: 0 }
  const handle = {
    async write(bytes: Uint8Array, start: number, length: number, position: number) {
      seen.calls++
      seen.atOnce = Math.max(seen.atOnce, ++active)
      await new Promise((resolve) => setImmediate(resolve))
      active--
      if (taken + length > limit) throw Object.assign(new Error('disk full'), { code: 'ENOSPC' })
      const bytesWritten = Math.min(length, most)
      file.set(bytes.subarray(start, start + bytesWritten), position)
      taken += bytesWritten
      return { bytesWritten, buffer: bytes }
    },
  }
  return { handle: handle as unknown as FileHandle, file, seen }
}

test('goes on where the system wrote less than it was given', async () => {
  const { handle, file } = fakeHandle(1000)
  const writer = new WriteBehind(handle)
  const bytes = Uint8Array.from({ length: 30_000 }, (_, i) => i % 251)
  await writer.write(bytes)
  await writer.flush()
  expect(Buffer.compare(file.subarray(0, 30_000), bytes)).toBe(0)
  expect(writer.position).toBe(30_000)
})

test('many small writes become one', async () => {
  const { handle, seen } = fakeHandle(8 << 20)
  const writer = new WriteBehind(handle)
  for (let i = 0; i < 10_000; i++) await writer.write(new Uint8Array(10))
  await writer.flush()
  expect(seen.calls).toBe(1)
})

test('has at most two writes on their way', async () => {
  const { handle, seen } = fakeHandle(8 << 20)
  const writer = new WriteBehind(handle)
  for (let i = 0; i < 70; i++) await writer.write(new Uint8Array(100 << 10))
  await writer.flush()
  expect(seen).toEqual({ calls: 7, atOnce: 2 })
})

test('large writes go as they are, after the small ones before them', async () => {
  const { handle, file, seen } = fakeHandle(8 << 20)
  const writer = new WriteBehind(handle)
  const bytes = Uint8Array.from({ length: (3 << 20) + 20 }, (_, i) => i % 253)
  await writer.write(bytes.subarray(0, 10))
  await writer.write(bytes.subarray(10, (3 << 20) + 10))
  await writer.write(bytes.subarray((3 << 20) + 10))
  await writer.flush()
  expect(Buffer.compare(file.subarray(0, bytes.byteLength), bytes)).toBe(0)
  expect(seen.calls).toBe(3)
  expect(writer.position).toBe(bytes.byteLength)
})

test('an error in the background reaches the caller, at the latest with flush', async () => {
  const { handle } = fakeHandle(8 << 20, 1 << 20)
  const writer = new WriteBehind(handle)
  const all = async (): Promise<void> => {
    for (let i = 0; i < 4; i++) await writer.write(new Uint8Array(1 << 20))
    await writer.flush()
  }
  await expect(all()).rejects.toThrow('disk full')
  await expect(writer.flush()).rejects.toThrow('disk full')
})

test('writing at once keeps the order of gathered, direct and immediate writes', async () => {
  const path = temp('file')
  const handle = await open(path, 'w')
  const writer = new WriteBehind(handle)
  const bytes = Uint8Array.from({ length: (2 << 20) + 70 }, (_, i) => i % 249)
  await writer.write(bytes.subarray(0, 30))
  expect(writer.writeNow(bytes.subarray(30, 40))).toBe(true)
  expect(writer.position).toBe(40)
  expect(writer.writeNow(bytes.subarray(40, (1 << 20) + 40))).toBe(true)
  expect(writer.position).toBe((1 << 20) + 40)
  await writer.write(bytes.subarray((1 << 20) + 40))
  await writer.flush()
  await handle.close()
  expect(Buffer.compare(await readFile(path), bytes)).toBe(0)
})

test('small pieces are taken at once as long as the buffer has room, and patched there', async () => {
  const path = temp('file')
  const handle = await open(path, 'w')
  const writer = new WriteBehind(handle)
  const piece = new Uint8Array(200_000).fill(1)
  let taken = 0
  while (writer.writeNow(piece)) taken++
  expect(taken).toBe(Math.floor((1 << 20) / piece.byteLength))
  expect(writer.patchNow(5, Uint8Array.of(7))).toBe(true)
  await writer.write(piece) // the first buffer is full and on its way
  expect(writer.patchNow(6, Uint8Array.of(8))).toBe(false)
  await writer.patch(6, Uint8Array.of(8))
  await writer.flush()
  await handle.close()
  const expected = new Uint8Array((taken + 1) * piece.byteLength).fill(1)
  expected.set([7, 8], 5)
  expect(Buffer.compare(await readFile(path), expected)).toBe(0)
})

test('the disk works in the background, and its errors are known at the end', async () => {
  let flushes = 0
  const broken = {
    write: async (_: Uint8Array, __: number, length: number) => ({ bytesWritten: length }),
    datasync: async () => {
      flushes++
      throw new Error('disk gone')
    },
  }
  const writer = new WriteBehind(broken as unknown as FileHandle)
  const piece = new Uint8Array(16 << 20)
  for (let i = 0; i < 17; i++) await writer.write(piece)
  expect(flushes).toBe(1)
  await expect(writer.flush()).rejects.toThrow('disk gone')
})

test('a patch does not wait for the disk, only for the bytes before it', async () => {
  let letGo = (): void => {}
  const done: string[] = []
  const slow = {
    write: async (_: Uint8Array, __: number, length: number, position: number) => {
      done.push(position === 4 ? 'patch' : 'write')
      return { bytesWritten: length }
    },
    datasync: () =>
      new Promise<void>((resolve) => {
        letGo = resolve
      }),
  }
  const writer = new WriteBehind(slow as unknown as FileHandle)
  const piece = new Uint8Array(16 << 20)
  for (let i = 0; i < 17; i++) await writer.write(piece)
  await writer.patch(4, new Uint8Array(4))
  expect(done.at(-1)).toBe('patch')
  const flushed = writer.flush().then(() => done.push('flush'))
  await new Promise((resolve) => setImmediate(resolve))
  expect(done.at(-1)).toBe('patch')
  letGo()
  await flushed
  expect(done.at(-1)).toBe('flush')
})
