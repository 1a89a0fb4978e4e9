// Every check has a file that trips it, with all checksums right unless the check is about one.
import { afterAll, describe, expect, it } from 'vitest'
import { codes } from '../../../src/formats/embd/codes.js'
import { MemorySource, verifySource } from '../../../src/kit.js'
import { changed, codesOf, layoutOf, repaired, sampleFile, streamOf, writeEmbd } from './build.js'

const fired = new Set<string>()
async function expectCodes(bytes: Uint8Array, wanted: readonly string[], name?: string): Promise<void> {
  const found = await codesOf(bytes, name)
  for (const code of found) fired.add(code)
  expect(found).toEqual(wanted.map((code) => `embd/${code}`))
}

const whole = await writeEmbd(sampleFile())
const at = layoutOf(whole)
const descriptor = (i: number): number => at.index + 32 * i
const names = descriptor(3)

describe('sectioned files', () => {
  it('are fine when nothing is wrong with them', () => expectCodes(whole, []))

  type Change = (view: DataView, bytes: Uint8Array) => void
  const cases: [code: string, change: Change, ...others: string[]][] = [
    ['version-major', (v) => v.setUint16(4, 2, true)],
    ['version-minor', (v) => v.setUint16(6, 3, true)],
    ['compressed', (v) => v.setUint32(8, 15, true)],
    ['reserved-flags', (v) => v.setUint32(8, 7 + 2 ** 31, true)],
    ['reserved-header', (v) => v.setUint32(60, 1, true)],
    ['reserved-footer', (v) => v.setUint32(at.footer + 12, 1, true)],
    ['footer-magic', (v) => v.setUint8(at.footer + 8, 0x45)],
    ['metadata-range', (v) => v.setUint32(12, 60, true)],
    ['metadata-range', (v) => v.setUint32(16, 7, true)],
    ['metadata-range', (v) => v.setUint32(16, 0xffffffff, true)],
    ['metadata-total-size', (v) => v.setUint32(at.metadata + 4, 3, true)],
    ['metadata-entries', (v) => v.setUint32(at.metadata, 11, true)],
    ['metadata-entries', (v) => v.setUint32(at.metadata, 9, true), 'metadata-required-keys'],
    ['metadata-entries', (v) => v.setUint16(at.metadata + 10, 0xffff, true), 'metadata-required-keys'],
    ['metadata-key-utf8', (v) => v.setUint8(at.metadata + 12, 0xff), 'metadata-required-keys'],
    ['metadata-value-utf8', (v) => v.setUint8(at.metadata + 22, 0xff)],
    ['metadata-required-keys', (v) => v.setUint8(at.metadata + 12, 0x4d)],
    ['metadata-vocab-size', (_, b) => b.set([0x39], Buffer.from(b).indexOf('vocab_size') + 10)],
    ['vocab-range', (v) => v.setUint32(20, at.footer - 4, true)],
    ['vocab-range', (v) => v.setUint32(24, 11, true)],
    ['vocab-entries', (v) => v.setUint32(at.vocab, 9, true)],
    ['vocab-entries', (v) => v.setUint32(at.vocab, 0xffffffff, true)],
    ['vocab-entries', (v) => v.setUint16(at.vocab + 32, 900, true)],
    ['vocab-total-size', (v) => v.setUint32(at.vocab + 4, 1, true)],
    ['vocab-total-size', (v) => v.setUint32(at.vocab, 7, true)],
    ['vocab-flag', (v) => v.setUint32(8, 6, true)],
    ['special-range', (v) => v.setUint32(at.vocab + 8, 5, true)],
    ['special-id', (v) => v.setUint32(at.vocab + 12, 8, true)],
    ['special-text', (v) => v.setUint32(at.vocab + 12, 7, true)],
    ['token-utf8', (v) => v.setUint8(at.vocab + 35, 0xff), 'special-text'],
    ['index-range', (v) => v.setUint32(28, 63, true)],
    ['index-range', (v) => v.setUint32(32, 2 ** 28, true)],
    ['name-table', (v) => v.setUint16(descriptor(2) + 6, 0xffff, true)],
    ['name-hash', (v) => v.setUint32(descriptor(0), 1, true)],
    ['name-utf8', (v) => v.setUint8(names, 0xff), 'name-hash'],
    ['dtype', (v) => v.setUint8(descriptor(0) + 4, 9)],
    ['ndim', (v) => v.setUint8(descriptor(0) + 5, 0)],
    ['ndim', (v) => v.setUint8(descriptor(0) + 5, 5)],
    ['dim-zero', (v) => v.setUint32(descriptor(0) + 12, 0, true)],
    ['unused-shape', (v) => v.setUint32(descriptor(0) + 20, 1, true)],
    ['data-range', (v) => v.setUint32(descriptor(0) + 8, 999, true)],
    ['data-range', (v) => v.setBigUint64(descriptor(0) + 24, 2n ** 64n - 64n, true)],
    ['data-range', (v) => v.setBigUint64(descriptor(2) + 24, 192n, true)],
    ['data-section-range', (v) => v.setBigUint64(40, 2n ** 60n, true)],
    ['data-section-range', (v) => v.setUint32(36, 0xffffff00, true)],
    ['alignment', (v) => v.setBigUint64(descriptor(1) + 24, 67n, true)],
    ['tensor-overlap', (v) => v.setBigUint64(descriptor(1) + 24, 0n, true)],
    ['padding', (v) => v.setUint8(at.data + 40, 1)],
    ['padding', (v) => v.setUint8(at.data - 1, 1)],
    ['no-tensors', (v) => v.setUint32(32, 0, true), 'padding', 'padding'],
  ]
  it.each(cases)('%s (%#)', async (code, change, ...others) => {
    const found = await codesOf(changed(whole, change))
    for (const each of found) fired.add(each)
    expect([...found].sort()).toEqual([code, ...others].map((each) => `embd/${each}`).sort())
  })

  it('shape-overflow', () =>
    expectCodes(
      changed(whole, (v) => {
        v.setUint8(descriptor(0) + 5, 4)
        for (let i = 0; i < 4; i++) v.setUint32(descriptor(0) + 8 + 4 * i, 65_536, true)
      }),
      ['shape-overflow'],
    ))

  it('duplicate-tensor-name and empty-tensor-name', async () => {
    const twice = changed(whole, (v, b) => {
      b.copyWithin(names + 7, names, names + 7)
      v.setUint16(descriptor(1) + 6, 7, true)
      v.setUint16(descriptor(2) + 6, 8, true)
      b.copyWithin(descriptor(1), descriptor(0), descriptor(0) + 4)
    })
    expect(await codesOf(twice)).toContain('embd/duplicate-tensor-name')
    const empty = changed(whole, (v) => {
      v.setUint16(descriptor(0) + 6, 0, true)
      v.setUint32(descriptor(0), 0x811c9dc5, true)
    })
    expect(await codesOf(empty)).toContain('embd/empty-tensor-name')
    fired.add('embd/duplicate-tensor-name').add('embd/empty-tensor-name')
  })

  it('section-overlap, without blaming what lies between', async () => {
    const bytes = changed(whole, (v) => v.setUint32(36, at.data - 64, true))
    expect(await codesOf(bytes)).toEqual(['embd/section-overlap'])
    fired.add('embd/section-overlap')
  })

  it('alignment-absolute, once for all tensors', async () => {
    const moved = new Uint8Array(
      Buffer.concat([whole.subarray(0, at.data), new Uint8Array(8), whole.subarray(at.data)]),
    )
    const bytes = changed(moved, (v) => {
      v.setUint32(36, at.data + 8, true)
      v.setBigUint64(48, BigInt(moved.byteLength), true)
    })
    await expectCodes(bytes, ['alignment-absolute'])
  })

  it('metadata-duplicate-key, and both values are kept', async () => {
    const model = sampleFile()
    const repeated = { kind: 'embd.repeated-metadata', sharing: 'private' as const, value: [['hidden_size', '9']] }
    const twice = await writeEmbd({ ...model, format: 'embd', parts: [...model.parts, repeated] })
    await expectCodes(twice, ['metadata-duplicate-key'])
  })

  it('checksums, each for its own bytes', async () => {
    const flip = (offset: number) => whole.map((byte, i) => (i === offset ? byte + 1 : byte))
    await expectCodes(flip(56), ['header-crc', 'file-crc'])
    await expectCodes(flip(at.data), ['data-crc', 'file-crc'])
    await expectCodes(flip(at.footer), ['data-crc'])
    await expectCodes(flip(at.footer + 4), ['file-crc'])
    await expectCodes(flip(at.metadata + 22), ['file-crc'])
  })

  it('total-file-size', async () => {
    await expectCodes(new Uint8Array(Buffer.concat([whole, new Uint8Array(9)])), ['total-file-size'])
    await expectCodes(repaired(changed(whole, (v) => v.setBigUint64(48, BigInt(whole.byteLength) + 1n, true))), [
      'total-file-size',
    ])
    expect(await codesOf(whole.subarray(0, at.data + 3))).toContain('embd/total-file-size')
  })

  it('duplicate-token', async () => {
    const second = at.vocab + 32 + 4 * 7 + 8 + 5
    await expectCodes(
      changed(whole, (_, b) => b.set(Buffer.from('the'), second + 2)),
      ['duplicate-token'],
    )
  })
})

describe('stream files', () => {
  const tensor = [3, 'k.w', 1, 2, new Uint8Array(8)] as const
  const cases: [code: string, bytes: Uint8Array, ...others: string[]][] = [
    ['truncated-header', streamOf(new Uint8Array(3))],
    ['version', streamOf(2, 0, 0)],
    ['truncated-name', streamOf(1, 1)],
    ['truncated-name', streamOf(1, 1, 9, 'k.w')],
    ['truncated-shape', streamOf(1, 1, 3, 'k.w', new Uint8Array(3))],
    ['truncated-shape', streamOf(1, 1, 3, 'k.w', 2, 5)],
    ['truncated-data', streamOf(1, 1, 3, 'k.w', 1, 2, new Uint8Array(7))],
    ['truncated-data', streamOf(1, 1, 3, 'k.w', 2, 65_536, 65_536, 0)],
    ['truncated-vocab-count', streamOf(1, 1, ...tensor, new Uint8Array(3))],
    ['truncated-token', streamOf(1, 1, ...tensor, 1, 4, 'abc')],
    ['truncated-token', streamOf(1, 1, ...tensor, 0xffffffff), 'vocab-count-limit'],
    ['truncated-name', streamOf(1, 1, 1_048_577, 'k.w'), 'string-length-limit'],
    ['ndim', streamOf(1, 1, 3, 'k.w', 5, 1, 1, 1, 1, 1, new Uint8Array(4), 0)],
    ['dim-zero', streamOf(1, 1, 3, 'k.w', 2, 0, 1, 0)],
    ['shape-overflow', streamOf(1, 1, 3, 'k.w', 4, 65_536, 65_536, 65_536, 65_536, 0)],
    ['name-utf8', streamOf(1, 1, 1, Uint8Array.of(0xff), 1, 1, new Uint8Array(4), 0)],
    ['duplicate-tensor-name', streamOf(1, 2, ...tensor, ...tensor, 0)],
    ['empty-tensor-name', streamOf(1, 1, 0, 1, 2, new Uint8Array(8), 0)],
    ['token-utf8', streamOf(1, 1, ...tensor, 1, 1, Uint8Array.of(0xc0))],
    ['duplicate-token', streamOf(1, 1, ...tensor, 3, 1, 'a', 1, 'b', 1, 'a')],
    [
      'duplicate-token',
      streamOf(1, 1, ...tensor, 2, 1, Uint8Array.of(0xff), 1, Uint8Array.of(0xff)),
      'token-utf8',
      'token-utf8',
    ],
    ['trailing-bytes', streamOf(1, 1, ...tensor, 0, new Uint8Array(7))],
  ]
  it.each(cases)('%s (%#)', async (code, bytes, ...others) => {
    const found = await codesOf(bytes, 'x.bin')
    for (const each of found) fired.add(each)
    expect([...found].sort()).toEqual([code, ...others].map((each) => `embd/${each}`).sort())
  })

  it('string-length-limit and vocab-count-limit are warnings when everything is there', async () => {
    const name = 'n'.repeat(1_048_577)
    await expectCodes(streamOf(1, 1, name.length, name, 1, 1, new Uint8Array(4), 0), ['string-length-limit'])
    const tokens = Array.from({ length: 100_001 }, (_, i) => `\u0006\0\0\0${String(i).padStart(6, '0')}`)
    await expectCodes(streamOf(1, 0, 100_001, tokens.join('')), ['vocab-count-limit'])
  })
})

describe('neither', () => {
  it('magic', () => expectCodes(Buffer.from('EMBd and so on'), ['magic']))
  it('is said for both layouts', async () => {
    const bytes = streamOf(
      1,
      7,
      new Uint8Array(100).map((_, i) => (i * 37) % 5),
    )
    const { findings } = await verifySource(new MemorySource(bytes))
    expect(findings.map(({ code }) => code)).toEqual(['embd/unknown-layout'])
    expect(findings[0]!.message).toMatch(/not a stream file because .*; not a sectioned file because /)
    fired.add('embd/unknown-layout')
  })
})

describe('limits', () => {
  it('of the index hold in both layouts', async () => {
    const { openModel } = await import('../../../src/kit.js')
    const open = (bytes: Uint8Array, indexBytes: number) =>
      openModel(new MemorySource(bytes), { limits: { indexBytes } })
    const tensor = [3, 'k.w', 1, 2, new Uint8Array(8)] as const
    const stream = streamOf(1, 1, ...tensor, 2, 1, 'a', 900, 'b'.repeat(900))
    const refusal = expect.objectContaining({ code: 'embd/index-limit' })
    await expect(open(whole, 1000)).rejects.toThrow(refusal)
    await expect(open(whole, 20)).rejects.toThrow(refusal)
    await expect(open(stream, 600)).rejects.toThrow(refusal)
    await expect(open(stream, 500)).rejects.toThrow(refusal)
    await expect(open(stream, 2000)).resolves.toBeDefined()
    fired.add('embd/index-limit')
  })
})

// The rest is tested where it belongs: orientation and writing have files of their own.
const elsewhere = ['orientation', 'orientation-undecidable', 'write-limit'].map((code) => `embd/${code}`)
afterAll(() => {
  const all = Object.values(codes).map(({ code }) => code)
  expect(all.filter((code) => !fired.has(code) && !elsewhere.includes(code))).toEqual([])
})
