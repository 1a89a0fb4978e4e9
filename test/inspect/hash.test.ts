import { describe, expect, it } from 'vitest'
import { cutPath } from '../../src/inspect/map.js'
import { columnMajor, groupExtents, hashModel } from '../../src/kit.js'
import { sampleModel, sampleTensor } from '../support/sample-model.js'

const fingerprint = async (...tensors: ReturnType<typeof sampleTensor>[]): Promise<string> =>
  (await hashModel(sampleModel(tensors))).fingerprint

describe('fingerprint', () => {
  const a = sampleTensor('a', 'f32', [3, 5], 1)
  const b = sampleTensor('b', 'u8', [7], 2)

  it('does not depend on the order of tensors or elements', async () => {
    expect(await fingerprint(b, a)).toBe(await fingerprint(a, b))
    expect(await fingerprint(columnMajor(a), b)).toBe(await fingerprint(a, b))
  })

  it('depends on names, types, shapes and values', async () => {
    const known = new Set([await fingerprint(a, b)])
    for (const other of [
      { ...a, name: 'c' },
      { ...a, shape: [5, 3] },
      sampleTensor('a', 'f32', [3, 5], 9),
      sampleTensor('a', 'i32', [3, 5], 1),
      { ...a, data: null },
    ]) {
      known.add(await fingerprint(other, b))
    }
    known.add(await fingerprint(a))
    expect(known.size).toBe(7)
  })

  it('digests stored bytes in stored order', async () => {
    const column = columnMajor(a)
    const stored = await hashModel(sampleModel([column]))
    const row = await hashModel(sampleModel([a]))
    expect(stored.tensors[0]!.digest).not.toBe(row.tensors[0]!.digest)
    const decoded = await hashModel(sampleModel([column]), { decoded: true })
    expect(decoded.tensors[0]!.digest).toBe(row.tensors[0]!.digest)
  })
})

describe('groupExtents', () => {
  it('cuts paths at segments', () => {
    expect(cutPath('tensors[3].dims[0]', 2)).toBe('tensors[3]')
    expect(cutPath('header["a.b[1]"].shape', 2)).toBe('header["a.b[1]"]')
    expect(cutPath('header', 3)).toBe('header')
  })

  it('joins neighbours and keeps gaps', () => {
    const rows = [
      { offset: 0, length: 4, path: 'header.magic', kind: 'field' as const },
      { offset: 4, length: 4, path: 'header.version', kind: 'field' as const },
      { offset: 8, length: 2, path: '', kind: 'gap' as const },
      { offset: 10, length: 6, path: 'data["a"]', kind: 'data' as const },
    ]
    expect(groupExtents(rows, 1)).toMatchObject([
      { offset: 0, length: 8, path: 'header' },
      { offset: 8, length: 2, kind: 'gap' },
      { offset: 10, length: 6, path: 'data' },
    ])
  })
})
