import { describe, expect, it } from 'vitest'
import { openModel, verifySource } from '../../../src/kit.js'
import {
  architecture,
  build,
  codesOf,
  entry,
  findingsOf,
  info,
  list,
  sourceOf,
  str,
  textEntry,
  u32,
  u32Entry,
  u64,
} from './build.js'

const two = (second: Parameters<typeof info>[0]) => [
  info({ name: 'a', offset: 0 }),
  info({ name: 'b', offset: 32, ...second }),
]
const withEntry = (bytes: number[]): Uint8Array => build({ entries: [architecture, bytes] })
const nested = (depth: number): number[] =>
  depth === 0 ? list(0, 0, []) : [...u32(9), ...u64(1), ...nested(depth - 1)]

/** One file per check, and nothing else that is wrong with it. */
const cases: readonly (readonly [code: string, file: Uint8Array])[] = [
  ['gguf/magic', build({ magic: 'GGUX' })],
  ['gguf/version', build({ version: 4 })],
  ['gguf/version', build({ version: 0 })],
  ['gguf/version', build({ version: 0x02000000 })],
  ['gguf/truncated', build().subarray(0, 20)],
  ['gguf/truncated', build().subarray(0, 60)],
  ['gguf/count', build({ tensorCount: 2n ** 40n })],
  ['gguf/count', build({ entryCount: 2n ** 63n - 1n })],
  ['gguf/string-length', withEntry([...u64(2n ** 62n), 1])],
  ['gguf/string-length', withEntry(entry('a', 8, u64(2n ** 40n)))],
  ['gguf/string-length', withEntry(entry('a', 9, list(8, 2, [...str('x'), ...u64(2n ** 33n)])))],
  ['gguf/array-length', withEntry(entry('a', 9, list(12, 2n ** 61n, [])))],
  ['gguf/array-length', withEntry(entry('a', 9, list(8, 2 ** 29, [])))],
  ['gguf/array-length', withEntry(entry('a', 9, list(9, 2 ** 29, [])))],
  ['gguf/value-type', withEntry(entry('a', 13, [0]))],
  ['gguf/value-type', withEntry(entry('a', 9, list(77, 0, [])))],
  ['gguf/depth', withEntry(entry('a', 9, nested(200)))],
  ['gguf/key-utf8', withEntry(entry([0xff], 0, [1]))],
  ['gguf/key-syntax', withEntry(entry('General.Name', 0, [1]))],
  ['gguf/key-syntax', withEntry(entry('', 0, [1]))],
  ['gguf/key-syntax', withEntry(entry('a..b', 0, [1]))],
  ['gguf/key-hyphen', withEntry(entry('nomic-bert.block_count', 0, [1]))],
  ['gguf/key-length', withEntry(entry('k'.repeat(65_536), 0, [1]))],
  ['gguf/duplicate-key', withEntry(textEntry('general.architecture', 'again'))],
  ['gguf/value-utf8', withEntry(textEntry('a', [0x80]))],
  ['gguf/value-utf8', withEntry(entry('a', 9, list(8, 3, [...str('ok'), ...str('grüße'), ...str([0xc3])])))],
  ['gguf/value-utf8', withEntry(entry('a', 9, list(9, 1, list(8, 1, str([0xc3])))))],
  ['gguf/bool-value', withEntry(entry('a', 7, [2]))],
  ['gguf/bool-value', withEntry(entry('a', 9, list(7, 3, [0, 1, 2])))],
  ['gguf/alignment', withEntry(u32Entry('general.alignment', 0))],
  ['gguf/alignment', withEntry(u32Entry('general.alignment', 24))],
  ['gguf/alignment', withEntry(entry('general.alignment', 10, u64(32)))],
  ['gguf/alignment', withEntry(u32Entry('general.alignment', 2 ** 21))],
  ['gguf/alignment', build({ entries: [architecture, u32Entry('general.alignment', 2 ** 31)], infos: [], data: 0 })],
  ['gguf/alignment-small', build({ entries: [architecture, u32Entry('general.alignment', 4)], alignment: 4 })],
  ['gguf/missing-architecture', build({ entries: [] })],
  ['gguf/missing-architecture', build({ entries: [u32Entry('general.architecture', 1)] })],
  ['gguf/missing-quantization-version', build({ infos: [info({ type: 8, dims: [32] })], data: 34 })],
  ['gguf/name-utf8', build({ infos: [info({ name: [0xff] })] })],
  ['gguf/name-length', build({ infos: [info({ name: 'n'.repeat(64) })] })],
  ['gguf/name-empty', build({ infos: [info({ name: '' })] })],
  ['gguf/duplicate-name', build({ infos: two({ name: 'a' }), data: 64 })],
  ['gguf/dims-count', build({ infos: [info({ dims: [1, 1, 1, 1, 4] })] })],
  ['gguf/dims-count', build({ infos: [[...str('w'), ...u32(2 ** 32 - 1), ...u64(0), ...u64(0)]] })],
  ['gguf/dims-overflow', build({ infos: [info({ dims: [2n ** 32n, 2n ** 32n] })] })],
  ['gguf/dims-overflow', build({ infos: [info({ dims: [2n ** 64n - 1n] })] })],
  ['gguf/tensor-type', build({ infos: [info({ type: 99 })] })],
  ['gguf/tensor-type', build({ infos: [info({ type: 4 })] })],
  ['gguf/block-rows', build({ infos: [info({ type: 8, dims: [48, 2] })], data: 102 })],
  ['gguf/offset-alignment', build({ infos: [info({ offset: 8 })], data: 24 })],
  ['gguf/past-end', build({ infos: [info({ dims: [400] })] })],
  ['gguf/past-end', build({ infos: [info({ offset: 2n ** 64n - 32n })] })],
  ['gguf/overlap', build({ infos: two({ offset: 0 }), data: 16 })],
  ['gguf/gap', build({ infos: two({ offset: 64 }), data: 80 })],
  ['gguf/order', build({ infos: [info({ name: 'a', offset: 32 }), info({ name: 'b' })], data: 48 })],
  ['gguf/tail-padding', build().subarray(0, -1)],
  ['gguf/trailing-bytes', build({ tail: [1] })],
]

describe('every check', () => {
  it.each(cases)('%s', async (code, file) => {
    const findings = await findingsOf(file)
    expect(findings.map((finding) => finding.code)).toContain(code)
    for (const finding of findings) {
      expect(finding.offset).toBeTypeOf('number')
      expect(finding.path).toBeTypeOf('string')
    }
    const found = findings.find((finding) => finding.code === code)!
    if (found.severity === 'error')
      await expect(openModel(sourceOf(file))).rejects.toMatchObject({ code: expect.any(String) })
  })

  it('knows its predecessors, also where it is said that the file is GGUF', async () => {
    for (const magic of ['lmgg', 'fmgg', 'tjgg', 'algg']) {
      const file = build({ magic })
      for (const code of await codesOf(file)) expect(code).toMatch(/^ggjt\//)
      await expect(openModel(sourceOf(file), { from: 'gguf' })).rejects.toMatchObject({ code: 'gguf/predecessor' })
    }
  })

  it('finds nothing in a file that is right', async () => {
    expect(await codesOf(build())).toEqual([])
    const [first, second] = [info({ name: 'a', dims: [4, 2] }), info({ name: 'b', offset: 32 })]
    expect(await codesOf(build({ infos: [first, second], data: 48 }))).toEqual([])
  })

  it('finds bytes in the padding', async () => {
    const file = build({ infos: two({}), data: 64 })
    expect(await codesOf(file)).toEqual(['gguf/padding', 'gguf/padding'])
    const header = build()
    header[header.length - 40] = 7
    expect((await findingsOf(header))[0]).toMatchObject({ code: 'gguf/padding', offset: header.length - 40 })
    const noTensors = build({ infos: [], data: 0 })
    expect(await codesOf(noTensors)).toEqual([])
    noTensors[noTensors.length - 1] = 1
    expect(await codesOf(noTensors)).toEqual(['gguf/padding'])
  })

  it('finds keys beyond 65,535 bytes', async () => {
    expect(await codesOf(withEntry(entry('K'.repeat(65_536), 0, [1])))).toEqual(['gguf/key-length', 'gguf/key-syntax'])
  })

  it('reads a file without tail padding when asked to be lenient', async () => {
    const warnings: string[] = []
    const onFinding = (finding: { code: string }) => warnings.push(finding.code)
    const model = await openModel(sourceOf(build().subarray(0, -1)), { lenient: true, onFinding })
    expect(model.tensors.length).toBe(1)
    expect(warnings).toContain('gguf/tail-padding-taken')
  })

  it('reads names that llama.cpp refuses when asked to be lenient', async () => {
    const file = build({ infos: [info({ name: 'n'.repeat(64) })] })
    await expect(openModel(sourceOf(file))).rejects.toMatchObject({ code: 'gguf/name-length' })
    const { findings, verdict } = await verifySource(sourceOf(file), { lenient: true })
    expect([verdict, findings[0]!.code]).toEqual(['warnings', 'gguf/name-length-taken'])
    expect((await openModel(sourceOf(file), { lenient: true })).tensors.at(0)!.name).toHaveLength(64)
    expect(await codesOf(build({ infos: [info({ name: 'n'.repeat(63) })] }))).toEqual([])
  })

  it.each<[string, number[][], 'warning' | 'note']>([
    ['a model by its other keys', [textEntry('general.name', 'm')], 'warning'],
    ['a model by its vocabulary', [entry('tokenizer.ggml.tokens', 9, list(8, 0, []))], 'warning'],
    ['tensors alone', [], 'note'],
    ['how tensors are stored', [u32Entry('general.quantization_version', 2)], 'note'],
    ['what was another format', [textEntry('general.name', 'm'), textEntry('tare.stowage', '{}')], 'note'],
  ])('misses the architecture of %s', async (_, entries, severity) => {
    expect(await findingsOf(build({ entries }))).toEqual([
      expect.objectContaining({ code: 'gguf/missing-architecture', severity }),
    ])
  })

  it('misses the architecture of a file with nothing in it', async () => {
    const [found] = await findingsOf(build({ entries: [], infos: [], data: 0 }))
    expect(found).toMatchObject({ code: 'gguf/missing-architecture', severity: 'warning' })
  })

  it('reports all that is wrong, and goes on after it', async () => {
    const file = build({
      entries: [architecture, entry('A', 7, [9]), u32Entry('general.alignment', 5)],
      infos: [info({ name: 'a', type: 99 }), info({ name: 'b', dims: [2 ** 20] }), info({ name: 'b' })],
    })
    expect(await codesOf(file)).toEqual([
      'gguf/key-syntax',
      'gguf/bool-value',
      'gguf/alignment',
      'gguf/tensor-type',
      'gguf/past-end',
      'gguf/duplicate-name',
    ])
  })
})

describe('hostile files', () => {
  it('names the position of both duplicates', async () => {
    const [finding] = await findingsOf(build({ entries: [architecture, architecture] }))
    expect(finding).toMatchObject({
      code: 'gguf/duplicate-key',
      path: 'metadata[1].key',
      offset: 24 + architecture.length,
    })
    expect(finding!.message).toContain('0x18')
  })

  it('checks twenty thousand tensors in linear time', async () => {
    const infos = Array.from({ length: 20_000 }, (_, i) => info({ name: `t${i}`, dims: [0] }))
    const file = build({ infos, data: 0 })
    const start = performance.now()
    expect((await openModel(sourceOf(file))).tensors.length).toBe(20_000)
    expect(performance.now() - start).toBeLessThan(3000)
  })

  it('stops at the limit of the index', async () => {
    const file = build({ entries: [architecture, textEntry('a', 'x'.repeat(200_000))] })
    await expect(openModel(sourceOf(file), { limits: { indexBytes: 100_000 } })).rejects.toMatchObject({
      code: 'gguf/index-size',
    })
  })
})
