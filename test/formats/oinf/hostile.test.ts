// Files that ask for more than they have: time and memory must follow the bytes that are there.
import { describe, expect, it } from 'vitest'
import { countingSource, MemorySource, openModel, verifySource } from '../../../src/kit.js'
import { bytes, craft, ndarray, quant, u64 } from './build.js'

const codesOf = async (file: Uint8Array): Promise<string[]> =>
  (await verifySource(new MemorySource(file, 'model.oinf'))).findings.map(({ code }) => code)

describe('hostile files', () => {
  it('with counts, ranks and sizes of all bits set are refused at once', async () => {
    const base = craft({
      version: 2,
      sizevars: [['a', 1n]],
      metadata: [{ key: 'k', type: 15, payload: ndarray(5, [2], bytes(1, 2)) }],
      tensors: [{ name: 't', tag: 1, dims: [2], data: bytes(1, 2), quant: quant() }],
    })
    const start = performance.now()
    for (const width of [4, 8]) {
      for (let at = 5; at + width <= base.length; at++) {
        const file = base.slice()
        file.fill(0xff, at, at + width)
        expect(await codesOf(file), `at ${at}`).not.toContain('verify/internal')
      }
    }
    expect(performance.now() - start).toBeLessThan(4000)
  })

  it('with thousands of values over the same bytes do not multiply them', async () => {
    const count = 5000
    const payload = ndarray(5, [65536], new Uint8Array(65536))
    const at = BigInt(72 + count * 40)
    const metadata = Array.from({ length: count }, (_, i) => ({
      key: `k${String(i).padStart(7, '0')}`,
      type: 15,
      payload: i === 0 ? payload : bytes(),
      nbytes: BigInt(payload.length),
      offset: at,
    }))
    expect(await codesOf(craft({ metadata }))).toContain('oinf/index-limit')
  })

  it('with thousands of booleans over the same bytes are not looked at thousands of times', async () => {
    const count = 1000
    const size = 1 << 20
    const at = BigInt(72 + count * 52 + 4 * (count % 2))
    const tensors = Array.from({ length: count }, (_, i) => ({
      name: `t${String(i).padStart(5, '0')}`,
      tag: 12,
      dims: [size],
      data: i === 0 ? new Uint8Array(size) : bytes(),
      nbytes: BigInt(size),
      offset: at,
    }))
    const start = performance.now()
    const codes = await codesOf(craft({ tensors }))
    expect(codes).toContain('oinf/overlap')
    expect(codes).toContain('verify/not-checked')
    expect(performance.now() - start).toBeLessThan(2000)
  })

  it('with deeply nested JSON under a reserved key stay what they are', async () => {
    for (const text of [
      '['.repeat(200_000),
      `["array","mixed",${'['.repeat(9)}`,
      '["array","mixed",[["u8"]]]',
      '[]',
      '7',
      '["u8","x"]',
    ]) {
      const data = new TextEncoder().encode(text)
      const key = 'tare.oinf.value.k'
      const file = craft({ metadata: [{ key, type: 15, payload: ndarray(5, [data.length], data) }] })
      const { metadata } = await openModel(new MemorySource(file, 'model.oinf'))
      expect([...metadata.keys()], text.slice(0, 20)).toEqual([key])
    }
  })

  it('with values far apart do not read what lies between', async () => {
    const gap = 1 << 20
    const metadata = Array.from({ length: 20 }, (_, i) => ({
      key: `k${i + 10}`,
      type: 5,
      payload: new Uint8Array(gap),
      nbytes: 1n,
    }))
    const count = { reads: 0, bytes: 0 }
    await openModel(countingSource(new MemorySource(craft({ metadata }), 'model.oinf'), count))
    expect(count.bytes).toBeLessThan(200_000)
  })

  it('with many tensors out of order take linear time', async () => {
    const time = async (count: number): Promise<number> => {
      const tensors = Array.from({ length: count }, (_, i) => ({
        name: `t${99_999 - i}`,
        tag: 5,
        dims: [1],
        data: bytes(1),
      }))
      const source = new MemorySource(craft({ tensors }), 'model.oinf')
      const start = performance.now()
      expect((await openModel(source)).tensors).toHaveLength(count)
      return performance.now() - start
    }
    await time(500)
    const [few, many] = [await time(500), await time(8000)]
    expect(many).toBeLessThan(Math.max(few, 5) * 16 * 8)
  })

  it('with quantization counts beyond the payload are refused before memory is taken', async () => {
    const file = craft({
      version: 2,
      tensors: [{ name: 't', tag: 1, dims: [2 ** 50], quant: quant({ scaleMode: 2, scaleCount: 2n ** 50n }) }],
    })
    expect(await codesOf(file)).toContain('oinf/quant-size')
  })

  it('with a file size of all bits are refused', async () => {
    const file = craft({})
    file.set(u64(2n ** 64n - 1n), 61)
    expect(await codesOf(file)).toContain('oinf/file-size')
  })
})
