import { writeFile } from 'node:fs/promises'
import { afterEach, expect, test, vi } from 'vitest'
import { Descriptor, DescriptorReads } from '../../../src/node/files/descriptors.js'
import { useTempDir } from '../temp-dir.js'

const MiB = 1 << 20
const inTemp = useTempDir()

/** A file of two MiB, and a descriptor that counts what is read by another thread. */
async function fileOf(bytes: Uint8Array): Promise<{ handle: Descriptor; through: () => number }> {
  const path = inTemp('file')
  await writeFile(path, bytes)
  const handle = new Descriptor(path, path)
  const read = vi.spyOn(handle, 'use')
  return { handle, through: () => read.mock.calls.length }
}

/** Every look at the clock takes so many milliseconds. */
function slowClock(): { step: number } {
  const clock = { step: 50 }
  let time = 0
  vi.spyOn(performance, 'now').mockImplementation(() => (time += clock.step))
  return clock
}

const pattern = Uint8Array.from({ length: 2 * MiB }, (_, i) => (i * 7 + (i >> 8)) % 256)

afterEach(() => vi.restoreAllMocks())

test('what the system has at hand is read by this thread', async () => {
  vi.spyOn(performance, 'now').mockReturnValue(0) // no time passes
  const { handle, through } = await fileOf(pattern)
  const reads = new DescriptorReads(handle)
  const target = new Uint8Array(MiB + 5)
  expect(await reads.read(target, 5, MiB, 3)).toBe(MiB)
  expect(Buffer.compare(target.subarray(5), pattern.subarray(3, MiB + 3))).toBe(0)
  expect(await reads.read(target, 0, MiB, 2 * MiB - 10)).toBe(10)
  expect(await reads.read(target, 0, MiB, 2 * MiB)).toBe(0)
  expect(through()).toBe(0)
  await handle.close()
})

test('a single slow one changes nothing', async () => {
  const clock = slowClock()
  const { handle, through } = await fileOf(pattern)
  const reads = new DescriptorReads(handle)
  const target = new Uint8Array(MiB)
  for (let i = 0; i < 8; i++) {
    clock.step = i % 2 === 0 ? 50 : 0
    await reads.read(target, 0, MiB, 0)
  }
  expect(through()).toBe(0)
  await handle.close()
})

test('after some that had to wait, others wait elsewhere for a while', async () => {
  const clock = slowClock()
  const { handle, through } = await fileOf(pattern)
  const reads = new DescriptorReads(handle)
  const target = new Uint8Array(MiB)
  await reads.read(target, 0, MiB, 0) // takes 50 ms
  await reads.read(target, 0, MiB, 0) // so does this
  expect(through()).toBe(0)
  clock.step = 0
  let elsewhere = 0
  for (; through() === elsewhere && elsewhere < 100; elsewhere++) {
    target.fill(0)
    expect(await reads.read(target, 0, MiB, elsewhere)).toBe(MiB)
    expect(Buffer.compare(target, pattern.subarray(elsewhere, elsewhere + MiB))).toBe(0)
  }
  expect(through()).toBeGreaterThan(8)
  expect(through()).toBeLessThan(100) // and then it was tried here again
  const before = through()
  await reads.read(target, 0, 4096, 0) // a few bytes never leave this thread
  expect(through()).toBe(before)
  await handle.close()
})

test('timers and signals have their turn while much is read', async () => {
  vi.spyOn(performance, 'now').mockReturnValue(0)
  const { handle } = await fileOf(pattern)
  const reads = new DescriptorReads(handle)
  const target = new Uint8Array(MiB)
  let turns = 0
  let isOver = false
  const count = (): void => {
    turns++
    if (!isOver) setImmediate(count)
  }
  setImmediate(count)
  for (let i = 0; i < 64; i++) await reads.read(target, 0, MiB, 0)
  for (let i = 0; i < 4096; i++) await reads.read(target, 0, 8, 0)
  isOver = true
  expect(turns).toBeGreaterThanOrEqual(6)
  await handle.close()
})

test('a file that was closed says so', async () => {
  const { handle } = await fileOf(pattern)
  const reads = new DescriptorReads(handle)
  await handle.close()
  await expect(reads.read(new Uint8Array(8), 0, 8, 0)).rejects.toThrow(/closed|EBADF/)
})
