import { describe, expect, it } from 'vitest'
import {
  hashModel,
  MemorySink,
  MemorySource,
  openModel,
  planRepair,
  verifySource,
  writeLayout,
} from '../../../../src/kit.js'
import { convertToFiles } from '../../../support/convert.js'
import { fixtureBytes, fixtureSource } from '../../../support/fixtures.js'
import { sampleModel, sampleTensor } from '../../../support/sample-model.js'
import { aeroBytes, codesOf, entry, index, verifyBytes, weights } from '../build.js'

async function repair(bytes: Uint8Array) {
  const planned = await planRepair(new MemorySource(bytes, 'x.aero'), { name: 'out.aero' })
  const files = new Map<string, Uint8Array>()
  await writeLayout(planned.layout, async (name) => new MemorySink(name, files))
  return { ...planned, bytes: files.get('out.aero')! }
}

describe('repair', () => {
  it.each(['mjsn-zero-hash', 'phsh-empty-shard', 'empty-last-shard'])('%s is made whole', async (name) => {
    const { bytes, repaired, lost } = await repair(fixtureBytes('aero', `defects/${name}.aero`))
    expect((await verifySource(new MemorySource(bytes))).findings).toEqual([])
    expect(repaired.length).toBe(1)
    expect(lost).toEqual([])
  })

  it('adds the one hash and changes nothing else', async () => {
    const before = fixtureBytes('aero', 'defects/mjsn-zero-hash.aero')
    const { bytes } = await repair(before)
    const different = [...bytes.keys()].filter((i) => bytes[i] !== before[i])
    expect(bytes.byteLength).toBe(before.byteLength)
    expect(different.every((at) => at >= 112 + 48 && at < 112 + 80)).toBe(true)
  })

  it('keeps what was not overwritten and names what was', async () => {
    const { bytes, lost } = await repair(fixtureBytes('aero', 'defects/tensor-hash-overwrite.aero'))
    expect((await verifySource(new MemorySource(bytes))).findings).toEqual([])
    expect((await openModel(new MemorySource(bytes))).tensors.length).toBe(1)
    expect(lost).toEqual([expect.stringMatching(/^"w": 92 of its 256 bytes were overwritten by TIDX/)])
  })

  it('finds the chunks behind a blank table', async () => {
    const { bytes } = await repair(fixtureBytes('aero', 'defects/lowlevel-ihsh.aero'))
    expect((await verifySource(new MemorySource(bytes))).verdict).toBe('ok')
    expect((await openModel(new MemorySource(bytes))).tensors.map(({ name }) => name).length).toBe(2)
  })

  it('has its new table confirmed by the control hash, where that was made before', async () => {
    const model = sampleModel([sampleTensor('a', 'f32', [9]), sampleTensor('b', 'u8', [5], 2)])
    const options = { extra: { 'control-hash': true, 'tensor-hashes': 'off' } }
    const whole = [...(await convertToFiles(model, 'aero', options)).values()][0]!
    const blank = whole.slice()
    const end = new DataView(blank.buffer, blank.byteOffset).getUint32(112 + 8, true)
    blank.fill(0, 112 + 80, end)
    const { bytes, repaired } = await repair(blank)
    expect(repaired).toContain('the control hash of the file confirms the new table')
    expect(Buffer.compare(bytes, whole)).toBe(0)
  })

  it('rewrites what shares bytes with the index, also where no tensor lies under it', async () => {
    const list = { ...index(entry('a', { data_off: 200 })), offset: 304 }
    const before = await aeroBytes([{ ...weights(210), offset: 320 }, list])
    expect(codesOf(await verifyBytes(before))).toContain('aero/defect-overwritten-weights')
    const { bytes, lost } = await repair(before)
    expect(codesOf(await verifyBytes(bytes))).toEqual([])
    expect((await openModel(new MemorySource(bytes))).tensors.length).toBe(1)
    expect(lost).toEqual([])
  })

  it('does not take along metadata that nobody understands', async () => {
    const options = { extra: { 'control-hash': true } }
    const whole = [
      ...(await convertToFiles(sampleModel([sampleTensor('a', 'f32', [9])]), 'aero', options)).values(),
    ][0]!
    const isMarked = whole.slice()
    isMarked[112 + 80 + 4]! += 1 // MJSN is marked as compressed
    const isLarge = fixtureBytes('aero', 'defects/tensor-hash-overwrite.aero').slice()
    isLarge[112 + 80 + 24 + 3]! = 0xff // MMSG would unfold to 4 GB
    for (const [before, chunk] of [
      [isMarked, 'meta.json'],
      [isLarge, 'manifest'],
    ] as const) {
      const { bytes, lost } = await repair(before)
      expect(codesOf(await verifyBytes(bytes))).toEqual([])
      expect(lost.some((line) => line.includes(`"${chunk}"`))).toBe(true)
      expect((await openModel(new MemorySource(bytes))).tensors.length).toBe(1)
    }
  })

  it('adds the hash of the control hash as it adds others', async () => {
    const whole = fixtureBytes('aero', 'valid/ihsh.aero')
    const before = whole.slice().fill(0, 112 + 48, 112 + 80)
    const { bytes, repaired, lost } = await repair(before)
    expect(repaired).toEqual(['IHSH "control.integrity" has a hash now (defect D1)'])
    expect(lost).toEqual([])
    expect(Buffer.compare(bytes, whole)).toBe(0)
  })

  it('says where the control hash did not fit, which the new one hides', async () => {
    const before = fixtureBytes('aero', 'invalid/ihsh-header-changed.aero').slice()
    before.fill(0, 112 + 80 + 48, 112 + 160)
    const { bytes, lost } = await repair(before)
    expect(codesOf(await verifyBytes(bytes))).toEqual([])
    expect(lost).toEqual([expect.stringMatching(/^the old control hash: bytes 0 to \d+ do not have the digest/)])
  })

  it('claims no hash for what cannot be unfolded', async () => {
    const broken = { fourcc: 'MMSG', name: 'manifest', flags: 1, bytes: new Uint8Array(20), hash: new Uint8Array(32) }
    const json = { fourcc: 'MJSN', name: 'meta.json', bytes: new TextEncoder().encode('{}'), hash: new Uint8Array(32) }
    const { repaired, lost } = await repair(await aeroBytes([json, broken, index(entry('a')), weights()]))
    expect(repaired).toEqual(['MJSN "meta.json" has a hash now (defect D1)'])
    expect(lost).toEqual(['not repaired: MMSG "manifest": this is not a zstd frame'])
  })

  it('leaves alone what it cannot judge', async () => {
    for (const file of ['valid/single-shard.aero', 'invalid/wtsh-payload.aero', 'invalid/toc-past-eof.aero']) {
      await expect(repair(fixtureBytes('aero', file)), file).rejects.toMatchObject({ code: 'write/nothing-to-repair' })
    }
  })
})

describe('opening', () => {
  it('goes on without the hash that the reference forgets', async () => {
    const findings: string[] = []
    const model = await openModel(fixtureSource('aero', 'defects/mjsn-zero-hash.aero'), {
      onFinding: ({ code, severity }) => findings.push(`${severity} ${code}`),
    })
    expect(findings).toEqual(['warning aero/defect-zero-hash'])
    expect((await hashModel(model)).tensors.length).toBe(2)
  })
})

describe('damage', () => {
  it('is found wherever it is, in a file with all hashes', async () => {
    const model = sampleModel([sampleTensor('first', 'f32', [9]), sampleTensor('second', 'u8', [50], 2)])
    const extra = { 'control-hash': true, 'page-hashes': 40 }
    const bytes = [...(await convertToFiles(model, 'aero', { extra, shardSize: 60 })).values()][0]!
    const plain = await openModel(new MemorySource(bytes))
    const { offset, length } = plain.tensors.at(1)!.data!.origin!
    for (let at = 0; at < bytes.byteLength; at++) {
      const damaged = bytes.slice()
      damaged[at]! ^= 0x20
      const { verdict, findings } = await verifySource(new MemorySource(damaged, 'x.aero'))
      expect(verdict, `byte ${at}`).not.toBe('ok')
      if (at < offset || at >= offset + length) continue
      const text = findings.map(({ message }) => message).join('\n')
      expect(text).toContain('WTSH "weights.shard1"')
      expect(text).toMatch(/page \d of "weights.shard1"/)
      expect(text).toContain('"second"')
    }
  })
})
