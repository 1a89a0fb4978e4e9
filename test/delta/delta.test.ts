// Deltas through the calls of the library: what comes out of base and delta is the new model, byte for byte, or nothing.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { applyDelta, convert, formats, isTareError, makeDelta, openModel } from '../../src/node.js'
import { fixturesRoot } from '../support/fixtures.js'

const fixture = (...names: string[]): string => join(import.meta.dirname, '../../fixtures/delta', ...names)
const base = readFileSync(fixture('base.safetensors'))
const next = readFileSync(fixture('new.safetensors'))

const isSame = (a: Uint8Array, b: Uint8Array): boolean => Buffer.compare(a, b) === 0

async function codeOf(work: Promise<unknown>): Promise<string> {
  try {
    await work
    return 'none'
  } catch (error) {
    if (isTareError(error)) return error.code
    throw error
  }
}

async function update(from: Uint8Array, to: Uint8Array, options = {}): Promise<Uint8Array> {
  const { files } = await makeDelta(from, to, undefined, options)
  return files[0]!.bytes
}

async function applied(from: Uint8Array, delta: Uint8Array): Promise<Uint8Array> {
  return (await applyDelta(from, delta, undefined)).files[0]!.bytes
}

/** A safetensors file with these tensors. */
function safetensors(
  tensors: Record<string, { dtype: string; shape: number[]; bytes: Uint8Array }>,
  metadata = {},
): Buffer {
  let at = 0
  const header: Record<string, unknown> = Object.assign(Object.create(null), { __metadata__: metadata })
  for (const [name, { dtype, shape, bytes }] of Object.entries(tensors)) {
    header[name] = { dtype, shape, data_offsets: [at, at + bytes.byteLength] }
    at += bytes.byteLength
  }
  const json = Buffer.from(JSON.stringify(header).padEnd(Math.ceil(JSON.stringify(header).length / 8) * 8))
  const length = Buffer.alloc(8)
  length.writeBigUInt64LE(BigInt(json.byteLength))
  return Buffer.concat([length, json, ...Object.values(tensors).map(({ bytes }) => bytes)])
}

const ownEntries = <T>(entries: [string, T][]): Record<string, T> =>
  entries.reduce((all, [name, value]) => Object.defineProperty(all, name, { value, enumerable: true }), {})

const f16 = (rows: number, seed: number, columns = 8) => {
  const bytes = new Uint8Array(rows * columns * 2)
  for (let i = 0; i < bytes.byteLength; i++) bytes[i] = Math.floor(Math.abs(Math.sin(seed * 7919 + i * 31)) * 251)
  return { dtype: 'F16', shape: [rows, columns], bytes }
}

describe('makeDelta and applyDelta', () => {
  it('make the new file again, with and without byte planes', async () => {
    for (const planes of [true, false]) {
      const delta = await update(base, next, { planes })
      expect(isSame(await applied(base, delta), next)).toBe(true)
    }
    const { changed, same, added, removed, renamed } = await makeDelta(base, next, undefined)
    expect({ changed, same, added, removed, renamed }).toEqual({
      changed: 2,
      same: 1,
      added: 0,
      removed: 0,
      renamed: 0,
    })
  })

  it('state nothing but digests for two equal models', async () => {
    const { changed, files } = await makeDelta(base, base, undefined)
    expect(changed).toBe(0)
    expect(isSame(await applied(base, files[0]!.bytes), base)).toBe(true)
  })

  it('refuse another base, by tensor, and a base that differs where the delta says nothing', async () => {
    const delta = await update(base, next)
    const offsetOf = async (name: string): Promise<number> => (await openModel(base)).tensor(name).data!.origin!.offset
    const changedBase = Buffer.from(base)
    changedBase[await offsetOf('a.weight')]! ^= 1
    expect(await codeOf(applied(changedBase, delta))).toBe('delta/wrong-base')
    const otherBase = Buffer.from(base)
    otherBase[await offsetOf('c.bias')]! ^= 1
    expect(await codeOf(applied(otherBase, delta))).toBe('delta/wrong-result')
    const otherHeader = safetensors({ x: f16(2, 1) })
    expect(await codeOf(applied(otherHeader, delta))).toBe('delta/wrong-base')
  })

  it('carry new, removed, renamed, longer, shorter and reshaped tensors, and other metadata', async () => {
    const grown = f16(40, 3)
    const old = { ...f16(32, 3), bytes: grown.bytes.subarray(0, 32 * 16) }
    const from = safetensors(
      { same: f16(9, 1), tied: f16(5, 2), rows: old, gone: f16(4, 4), wide: f16(6, 5, 4) },
      { a: '1' },
    )
    const to = safetensors(
      { same: f16(9, 1), moved: f16(5, 2), rows: grown, more: f16(3, 9), wide: { ...f16(6, 5, 4), shape: [4, 6] } },
      { a: '2', b: 'longer' },
    )
    const { files, ...counts } = await makeDelta(from, to, undefined)
    expect(counts).toMatchObject({ added: 1, renamed: 1, removed: 1 })
    expect(isSame(await applied(from, files[0]!.bytes), to)).toBe(true)
    expect(isSame(await applied(to, await update(to, from)), from)).toBe(true)
  })

  it('find renamed tensors that changed by a rule', async () => {
    const changed = f16(64, 2)
    changed.bytes[5]! ^= 1
    const from = safetensors({ 'old.x': f16(64, 2) })
    const to = safetensors({ 'model.x': changed })
    const { files, renamed } = await makeDelta(from, to, undefined, { rename: ['s/^old/model/'] })
    expect(renamed).toBe(1)
    expect(isSame(await applied(from, files[0]!.bytes), to)).toBe(true)
  })

  it('keep names that a delta needs for itself', async () => {
    const from = safetensors({ 'tare.delta': f16(3, 1), 'tare.frame': f16(3, 2) })
    const to = safetensors({ 'tare.delta': f16(3, 5), 'tare.frame': f16(3, 6) })
    expect(isSame(await applied(from, await update(from, to)), to)).toBe(true)
  })

  it('work for any bytes', async () => {
    const tensor = fc.record({ rows: fc.integer({ min: 0, max: 40 }), seed: fc.integer({ min: 0, max: 3 }) })
    const model = fc.dictionary(fc.constantFrom('a', 'b', 'c', '__proto__', 'd e'), tensor, { maxKeys: 4 })
    await fc.assert(
      fc.asyncProperty(model, model, fc.boolean(), async (one, two, planes) => {
        const make = (of: typeof one): Buffer =>
          safetensors(ownEntries(Object.entries(of).map(([name, { rows, seed }]) => [name, f16(rows, seed)])))
        const [from, to] = [make(one), make(two)]
        expect(isSame(await applied(from, await update(from, to, { planes })), to)).toBe(true)
      }),
      { numRuns: 60 },
    )
  })
})

describe('containers', () => {
  const writable = formats
    .filter(({ id, capabilities }) => capabilities.write && !['npy', 'aeroset', 'imatrix'].includes(id))
    .map(({ id }) => id)

  it.each(writable)(
    '%s: the new container comes out byte for byte, from a base in it or in safetensors',
    async (to) => {
      const convertTo = async (bytes: Uint8Array): Promise<Uint8Array> =>
        (await convert(bytes, undefined, { to, deterministic: true, allowLoss: 'content' })).files[0]!.bytes
      const [from, wanted] = [await convertTo(base), await convertTo(next)]
      expect(isSame(await applied(from, await update(from, wanted)), wanted)).toBe(true)
      expect(isSame(await applied(base, await update(base, wanted)), wanted)).toBe(true)
    },
  )

  it('goes from GGUF to safetensors where the bits agree, and stores only what changed', async () => {
    const { files } = await convert(base, undefined, { to: 'gguf', allowLoss: 'content' })
    const { changed, same, added } = await makeDelta(files[0]!.bytes, next, undefined)
    expect({ changed, same, added }).toEqual({ changed: 2, same: 1, added: 0 })
  })

  it('reproduces files whose tensors are packed, as a whole', async () => {
    const npz = readFileSync(join(fixturesRoot, 'npy', 'deflated.npz'))
    expect(isSame(await applied(base, await update(base, npz)), npz)).toBe(true)
  })
})

describe('hostile deltas', () => {
  it('are refused or come out right, whatever byte is changed', async () => {
    const delta = await update(base, next)
    let refused = 0
    for (let at = 0; at < delta.byteLength; at += 7) {
      const bad = Uint8Array.from(delta)
      bad[at]! ^= 0x21
      try {
        // A changed name of a file or a removed tensor changes nothing that is written.
        expect(isSame(await applied(base, bad), next)).toBe(true)
      } catch (error) {
        if (!isTareError(error)) throw error
        refused++
      }
    }
    expect(refused).toBeGreaterThan(delta.byteLength / 7 / 2)
  })

  it('cannot ask for far more bytes than there are', async () => {
    const frame = {
      length: 2 ** 40,
      digest: '0'.repeat(64),
      prefix: 0,
      suffix: 0,
      how: 'middle',
      bytes: 'KLUv/SAAAQAA',
    }
    const files = [{ name: 'x.bin', size: 2 ** 40, digest: '0'.repeat(64), cuts: [] }]
    const document = {
      ...{ delta: 'tare 1', digest: 'blake3', checksum: 'blake3', base: { format: 'safetensors' } },
      ...{ new: { format: 'safetensors', files }, frame, tensors: [], removed: [] },
    }
    const bomb = safetensors({}, { 'tare.delta': JSON.stringify(document) })
    expect(await codeOf(applied(base, bomb))).toBe('delta/size')
    const away = safetensors(
      {},
      { 'tare.delta': JSON.stringify({ ...document, new: { format: 'x', files: [{ ...files[0], name: '../x' }] } }) },
    )
    expect(await codeOf(applied(base, away))).toBe('delta/syntax')
    expect(await codeOf(applied(base, next))).toBe('delta/not-a-delta')
  })
})
