// Whatever is wrong with a file, what repair makes of it has no error; or nothing is made of it, and that is said.
import { describe, expect, it } from 'vitest'
import {
  MemorySink,
  MemorySource,
  openModel,
  planRepair,
  TareError,
  verifySource,
  writeLayout,
} from '../../../../src/kit.js'
import { fixtureBytes } from '../../../support/fixtures.js'
import { aeroBytes, entry, index, type TestChunk, weights } from '../build.js'

async function repaired(bytes: Uint8Array): Promise<{ bytes: Uint8Array; lost: readonly string[] } | TareError> {
  try {
    const { layout, lost } = await planRepair(new MemorySource(bytes, 'x.aero'), { name: 'out.aero' })
    const files = new Map<string, Uint8Array>()
    await writeLayout(layout, async (name) => new MemorySink(name, files))
    return { bytes: files.get('out.aero')!, lost }
  } catch (error) {
    if (error instanceof TareError) return error
    throw error
  }
}

async function expectSound(bytes: Uint8Array, what: string): Promise<void> {
  const result = await repaired(bytes)
  if (result instanceof TareError) {
    expect(result.code, what).toBe('write/nothing-to-repair')
    return
  }
  const { findings } = await verifySource(new MemorySource(result.bytes, 'out.aero'))
  expect(
    findings.filter(({ severity }) => severity === 'error'),
    what,
  ).toEqual([])
  expect((await openModel(new MemorySource(result.bytes, 'out.aero'))).tensors.length, what).toBeGreaterThan(0)
}

const noHash = new Uint8Array(32)
const json = (text = '{}'): TestChunk => ({
  fourcc: 'MJSN',
  name: 'meta.json',
  bytes: new TextEncoder().encode(text),
  hash: noHash,
})
const damaged: TestChunk = { ...weights(8, 'weights.shard1'), hash: new Uint8Array(32).fill(7) }
const unknown: TestChunk = { fourcc: 'XTRA', name: 'vendor', bytes: new Uint8Array(9).fill(3) }

describe('a file with a known defect and other damage', () => {
  it('gives the tensors whose shard is whole', async () => {
    const list = index(entry('a'), entry('b', { shard_id: 1 }))
    const result = await repaired(await aeroBytes([json(), list, weights(), damaged]))
    expect(result).not.toBeInstanceOf(TareError)
    const { bytes, lost } = result as Exclude<typeof result, TareError>
    expect((await verifySource(new MemorySource(bytes, 'out.aero'))).findings).toEqual([])
    expect((await openModel(new MemorySource(bytes, 'out.aero'))).tensors.map(({ name }) => name)).toEqual(['a'])
    expect(lost).toEqual([expect.stringMatching(/^"b" \(4 bytes\): the content of WTSH "weights.shard1"/)])
  })

  it.each([
    ['no index', [json(), weights()]],
    ['tensors that are all damaged', [json(), index(entry('b', { shard_id: 1 })), damaged]],
  ] as const)('gives nothing where there is %s', async (_, chunks) => {
    expect(await repaired(await aeroBytes(chunks))).toMatchObject({ code: 'write/nothing-to-repair' })
  })

  it.each([
    ['a chunk nobody knows', [{ ...unknown, hash: new Uint8Array(32).fill(1) }]],
    ['a chunk nobody knows that has no hash', [{ ...unknown, hash: noHash }]],
    ['an empty chunk with the hash of something', [{ ...unknown, bytes: new Uint8Array(0), hash: damaged.hash! }]],
    ['a chunk that cannot be unfolded', [{ ...unknown, flags: 1 }]],
    ['a manifest that cannot be unfolded', [{ ...unknown, fourcc: 'MMSG', flags: 1, hash: noHash }]],
  ] as const)('leaves out or repairs %s', async (what, chunks) => {
    for (const first of [json(), json('no json')]) {
      const bytes = await aeroBytes([first, ...chunks, index(entry('a')), weights()])
      await expectSound(bytes, what)
    }
  })
})

describe('a file that is changed somewhere', () => {
  const files = [
    'defects/mjsn-zero-hash.aero',
    'defects/tensor-hash-overwrite.aero',
    'defects/lowlevel-ihsh.aero',
    'defects/phsh-empty-shard.aero',
    'defects/empty-last-shard.aero',
    'valid/ihsh-phsh-multi-shard.aero',
    'valid/unknown-chunks.aero',
  ]
  it.each(files)('%s is repaired soundly, or not at all', { timeout: 60_000 }, async (file) => {
    const whole = fixtureBytes('aero', file)
    for (let at = 0; at < whole.byteLength; at += 7) {
      for (const value of [0, 0xff, whole[at]! ^ 0x10]) {
        const bytes = whole.slice()
        bytes[at] = value
        if (bytes[at] !== whole[at]) await expectSound(bytes, `byte ${at} is ${value}`)
      }
      if (at > 0) await expectSound(whole.slice(0, at), `cut at ${at}`)
    }
  })
})
