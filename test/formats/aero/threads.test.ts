// However many threads look at a file, the report is the same.
import { describe, expect, it } from 'vitest'
import { BlobSource, type ByteSource, verifySource } from '../../../src/kit.js'
import { convertToFiles } from '../../support/convert.js'
import { fixtureBytes, loadCases } from '../../support/fixtures.js'
import { sampleModel, sampleTensor } from '../../support/sample-model.js'
import { fakePool } from '../../threads/fake-threads.js'

const blobOf = (bytes: Uint8Array): Blob => new Blob([bytes.slice()])

function openSet(files: ReadonlyMap<string, Uint8Array>, main: string): ByteSource {
  const blobs = new Map([...files].map(([name, bytes]) => [name, blobOf(bytes)]))
  return new BlobSource(blobs.get(main)!, main, blobs)
}

async function expectSame(open: () => ByteSource): Promise<number> {
  const alone = await verifySource(open())
  let started = 0
  for (const threads of [2, 3]) {
    const pool = fakePool(threads)
    expect(await verifySource(open(), { pool })).toEqual(alone)
    started += pool.started()
    await pool.close()
  }
  return started
}

describe('the report is the same on one, two and three threads', () => {
  const cases = loadCases('aero').filter(({ file }) => file !== 'invalid/header-empty.aero')
  it.each(cases.map(({ file }) => file))('%s', async (file) => {
    await expectSame(() => new BlobSource(blobOf(fixtureBytes('aero', file)), file))
  })

  const model = sampleModel(Array.from({ length: 12 }, (_, i) => sampleTensor(`t${i}`, 'f32', [128, 256], i)))

  it('for a file whose weights are damaged in many places', async () => {
    const extra = { 'page-hashes': 16_384 }
    const files = await convertToFiles(model, 'aero', { name: 'm.aero', shardSize: 300_000, extra })
    const bytes = files.get('m.aero')!.slice()
    for (let at = 100_000; at < bytes.byteLength; at += 90_001) bytes[at]! ^= 1
    const verdict = await verifySource(new BlobSource(blobOf(bytes), 'm.aero'))
    expect(new Set(verdict.findings.map(({ code }) => code))).toEqual(
      new Set(['aero/phsh-digest', 'aero/tensor-hash-b3', 'aero/chunk-hash']),
    )
    expect(await expectSame(() => new BlobSource(blobOf(bytes), 'm.aero'))).toBe(3)
  })

  it('for a set with damaged parts', async () => {
    const main = 'm.aeroset.json'
    const files = new Map(
      await convertToFiles(model, 'aeroset', { name: main, shardSize: 140_000, extra: { 'part-shards': 2 } }),
    )
    const parts = [...files.keys()].filter((name) => name.includes('part'))
    expect(parts.length).toBeGreaterThan(3)
    for (const name of parts.slice(1)) files.get(name)![200_000]! ^= 4
    const verdict = await verifySource(openSet(files, main))
    expect(verdict.findings.length).toBeGreaterThan(6)
    expect(await expectSame(() => openSet(files, main))).toBe(5)
  })
})

it('starts no threads for a large file whose weights are left unread', async () => {
  const bytes = fixtureBytes('aero', loadCases('aero').find(({ file }) => !file.startsWith('invalid'))!.file)
  const large = new Blob([bytes.slice(), ...Array(257).fill(new Blob([new Uint8Array(1 << 20)]))])
  for (const options of [{ extra: { control: true } }, { quick: true }]) {
    const pool = fakePool(2)
    await verifySource(new BlobSource(large, 'm.aero'), { ...options, pool })
    expect(pool.started()).toBe(0)
    await pool.close()
  }
})
