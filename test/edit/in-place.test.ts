// Formats that find everything through a table keep their weights where they are, whatever happens to names and metadata.
import { describe, expect, test } from 'vitest'
import {
  type Edits,
  listOf,
  MemorySource,
  type MetaValue,
  openModel,
  text,
  toHex,
  verifySource,
} from '../../src/kit.js'
import { convertToFiles } from '../support/convert.js'
import { fixtureBytes, fixtureSource, isAccepted, presentCases } from '../support/fixtures.js'
import { sampleModel, sampleTensor } from '../support/sample-model.js'
import { type EditResult, editBytes } from './edit-bytes.js'

const weights = [
  sampleTensor('a.weight', 'f32', [400, 8], 1),
  sampleTensor('b.weight', 'bf16', [5], 2),
  sampleTensor('c.weight', 'f32', [300, 30], 3),
]
const metadata = new Map<string, MetaValue>([
  ['model_name', text('a model')],
  ['author', text('somebody')],
])

async function make(format: string, extra: object, deterministic = true): Promise<Uint8Array> {
  const files = await convertToFiles(sampleModel(weights, metadata), format, { extra: { ...extra }, deterministic })
  return [...files.values()][0]!
}

const placesOf = ({ before, after }: EditResult) =>
  [before, after].map(({ tensors }) => tensors.map(({ data }) => data!.origin!.offset).sort((a, b) => a - b))

/** An edit that must leave the weights where they are. */
async function editInPlace(bytes: Uint8Array, format: string, edits: Edits): Promise<EditResult> {
  const result = await editBytes(bytes, format, edits)
  expect(result.how, JSON.stringify(edits).slice(0, 200)).toBe('in place')
  const [before, after] = placesOf(result)
  expect(after).toEqual(before)
  return result
}

const variants: readonly (readonly [format: string, title: string, extra: object])[] = [
  ['mcf', 'by default', {}],
  ['aero', 'by default', {}],
  ['aero', 'with a control hash', { 'control-hash': true }],
  ['aero', 'with all hashes', { 'control-hash': true, 'page-hashes': 4096 }],
  ['aero', 'without hashes of tensors', { 'tensor-hashes': 'off' }],
]

describe.each(variants)('%s %s', (format, _title, extra) => {
  test('takes edits one after another, growing and shrinking, and does not grow by that', async () => {
    let bytes = await make(format, extra)
    const start = bytes.byteLength
    const names = ['a.weight', 'b.weight', 'c.weight']
    for (let round = 0; round < 24; round++) {
      const length = [0, 700, 3, 40, 5000, 1, 90, 2000][round % 8]!
      const edits: Edits[] = [
        { set: [['author', 'x'.repeat(length)]] },
        { set: [[`key ${round % 5}`, 'y'.repeat((length * 7) % 901)]] },
        { rename: [[names[round % 3]!, `${'n'.repeat((length * 3) % 997)}.${round}`]] },
        { set: [['model_name', `m${'z'.repeat(length)}`]] },
      ]
      const edit = edits[round % 4]!
      const result = await editInPlace(bytes, format, edit)
      for (const [key, value] of edit.set ?? []) expect(result.after.metadata.get(key)).toEqual(text(value))
      for (const [, to] of edit.rename ?? []) {
        names[round % 3] = to
        expect(result.after.tensors.map(({ name }) => name).sort()).toEqual(names.toSorted())
      }
      bytes = result.bytes
    }
    const back = await editInPlace(bytes, format, {
      unset: [...(await openModel(new MemorySource(bytes, 'm'), { from: format })).metadata.keys()].filter((key) =>
        key.startsWith('key'),
      ),
      set: [
        ['author', 'somebody'],
        ['model_name', 'a model'],
      ],
      rename: names.map((name, i) => [name, ['a.weight', 'b.weight', 'c.weight'][i]!]),
    })
    // What moved out of the room in front of the weights may have left it empty.
    expect(back.bytes.byteLength).toBeLessThanOrEqual(start + 1024)
  })

  test('nothing of an entry that was removed is left in the file', async () => {
    const secret = 'a secret that must go'
    const set = await editInPlace(await make(format, extra), format, { set: [['author', secret]] })
    const unset = await editInPlace(set.bytes, format, { unset: ['author'] })
    expect(Buffer.from(unset.bytes).includes(secret)).toBe(false)
  })
})

describe('mcf', () => {
  test.each([
    'layout-dir-first.mcf',
    'layout-index-first-data-last.mcf',
    'layout-dir-unsorted.mcf',
    'header-64.mcf',
    'section-unknown.mcf',
    'section-duplicate.mcf',
    'index-shared-tables.mcf',
    'quant-k4.mcf',
    'quantinfo-odd-records.mcf',
    'pack-hf.mcf',
    'plain-dtypes.mcf',
  ])('%s, written by another program', async (file) => {
    const bytes = fixtureBytes('mcf', file)
    const { tensors } = await openModel(new MemorySource(bytes, 'm'), { from: 'mcf' })
    const set = await editInPlace(bytes, 'mcf', { set: [['new', 'x'.repeat(300)]] })
    const first = tensors.at(0)!.name
    const renamed = await editInPlace(set.bytes, 'mcf', { rename: [[first, `zz.${first}.${'x'.repeat(50)}`]] })
    const back = await editInPlace(renamed.bytes, 'mcf', {
      rename: [[`zz.${first}.${'x'.repeat(50)}`, first]],
      unset: ['new'],
    })
    const kept = ({ parts }: EditResult['after']) => parts.flatMap(({ kind, name }) => `${kind} ${name}`).sort()
    expect(kept(back.after)).toEqual(expect.arrayContaining(kept(set.before)))
  })

  test('empty sections find a place that is not inside the directory', async () => {
    const bytes = fixtureBytes('mcf', 'section-empty.mcf')
    const { tensors } = await openModel(new MemorySource(bytes, 'm'), { from: 'mcf' })
    const { after } = await editInPlace(bytes, 'mcf', { rename: [[tensors.at(0)!.name, 'x'.repeat(500)]] })
    expect(after.tensors.map(({ name }) => name)).toContain('x'.repeat(500))
  })

  test('a file that would be left with too much unused space is rewritten', async () => {
    const many = Array.from({ length: 1500 }, (_, i) => sampleTensor(`tensor.${i}`, 'u8', [1], i))
    const [bytes] = [...(await convertToFiles(sampleModel(many, metadata), 'mcf')).values()]
    const front = indexInFront(bytes!)
    const { how } = await editBytes(front, 'mcf', { rename: [['tensor.0', 'x'.repeat(200)]] })
    expect(how).toBe('rewrite')
  })
})

/** Puts TensorIndex in front of TensorData, where it leaves a hole when it grows. */
function indexInFront(bytes: Uint8Array): Uint8Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset)
  const directory = Number(view.getBigUint64(16, true))
  const sections = Array.from({ length: view.getUint32(12, true) }, (_, i) => {
    const at = directory + i * 24
    const offset = Number(view.getBigUint64(at + 8, true))
    return { type: view.getUint32(at, true), offset, size: Number(view.getBigUint64(at + 16, true)) }
  })
  const index = sections.find(({ type }) => type === 3)!
  const data = sections.find(({ type }) => type === 4)!
  const shift = Math.ceil(index.size / 64) * 64
  const moved = new Uint8Array(bytes.byteLength + shift)
  moved.set(bytes.subarray(0, data.offset))
  moved.set(bytes.subarray(index.offset, index.offset + index.size), data.offset)
  moved.set(bytes.subarray(data.offset, data.offset + data.size), data.offset + shift)
  const end = Math.ceil((data.offset + shift + data.size) / 8) * 8
  const out = new DataView(moved.buffer)
  for (const [i, { type, offset, size }] of sections.entries()) {
    const place = type === 3 ? data.offset : type === 4 ? data.offset + shift : offset
    out.setUint32(end + i * 24, type, true)
    out.setUint32(end + i * 24 + 4, 1, true)
    out.setBigUint64(end + i * 24 + 8, BigInt(place), true)
    out.setBigUint64(end + i * 24 + 16, BigInt(size), true)
  }
  const size = end + sections.length * 24
  out.setBigUint64(16, BigInt(end), true)
  out.setBigUint64(24, BigInt(size), true)
  const count = out.getUint32(data.offset + 8, true)
  for (let i = 0; i < count; i++) {
    const at = data.offset + 48 + i * 40 + 24
    out.setBigUint64(at, out.getBigUint64(at, true) + BigInt(shift), true)
  }
  return moved.slice(0, size)
}

describe('aero', () => {
  const uuidOf = (bytes: Uint8Array): string => toHex(bytes.subarray(52, 68))

  test('a uuid stays, unless it was made from the content', async () => {
    const given = '00112233445566778899aabbccddeeff'
    const named = await make('aero', { uuid: given })
    expect(uuidOf((await editInPlace(named, 'aero', { set: [['author', 'me']] })).bytes)).toBe(given)
    for (const extra of [{}, { 'control-hash': true }]) {
      const { after, bytes } = await editInPlace(await make('aero', extra), 'aero', { set: [['author', 'me']] })
      const fresh = await convertToFiles({ ...sampleModel(weights), metadata: after.metadata }, 'aero', {
        extra,
        deterministic: true,
      })
      expect(uuidOf(bytes)).toBe(uuidOf([...fresh.values()][0]!))
    }
  })

  const valid = presentCases('aero').filter(
    (each) => isAccepted(each) && (each.tensors?.length ?? 0) > 0 && each.file.startsWith('valid/'),
  )
  test.each(valid.map(({ file }) => file))('%s, written by another program', async (file) => {
    const bytes = fixtureBytes('aero', file)
    const { tensors, metadata: had } = await openModel(fixtureSource('aero', file))
    const { findings } = await verifySource(fixtureSource('aero', file))
    const rename: Edits['rename'] = [[tensors.at(0)!.name, `zz.${'x'.repeat(300)}`]]
    const renamed = await editInPlace(bytes, 'aero', { rename })
    expect(renamed.after.tensors.at(0)).toMatchObject({ name: rename[0]![1], shape: tensors.at(0)!.shape })
    expect(findings.some(({ severity }) => severity === 'error')).toBe(false)
    const set = await editBytes(renamed.bytes, 'aero', { set: [['new', 'x'.repeat(300)]] })
    expect([...set.after.metadata.keys()]).toEqual(expect.arrayContaining([...had.keys(), 'new']))
  })
})

describe.each(['mcf', 'aero'])('what %s only carries', (format) => {
  test('is edited in its own form, in place, and finds the way home', async () => {
    const typed: [string, MetaValue][] = [
      ['general.architecture', text('llama')],
      ['zulu', text('last by name')],
      ['small', { type: 'u8', value: 7 }],
      ['words', listOf('str', [text('a'), text('b')])],
    ]
    const model = sampleModel(weights, new Map(typed))
    const [home] = [...(await convertToFiles(model, 'gguf')).values()]
    const before = await openModel(new MemorySource(home!, 'm'), { from: 'gguf' })
    const [away] = [...(await convertToFiles(before, format)).values()]
    const { after } = await editInPlace(away!, format, { set: [['small', '8']], rename: [['a.weight', 'z.weight']] })
    const [back] = [...(await convertToFiles(after, 'gguf')).values()]
    const again = await openModel(new MemorySource(back!, 'm'), { from: 'gguf' })
    expect(again.metadata.get('small')).toEqual({ type: 'u8', value: 8 })
    expect([...again.metadata.keys()]).toEqual([...before.metadata.keys()])
    expect(again.tensors.map(({ name }) => name)).toEqual(['z.weight', 'b.weight', 'c.weight'])
  })
})
