import { describe, expect, test } from 'vitest'
import { type Edits, formats, listOf, MemorySource, type MetaValue, openModel, text } from '../../src/kit.js'
import { convertToFiles } from '../support/convert.js'
import { sampleModel, sampleTensor } from '../support/sample-model.js'
import { editBytes as edit } from './edit-bytes.js'

const weights = [
  sampleTensor('a.weight', 'f32', [16, 8], 1),
  sampleTensor('b.weight', 'f32', [5], 2),
  sampleTensor('c.weight', 'f32', [7, 3], 3),
]
const metadata = new Map<string, MetaValue>([
  ['general.architecture', text('llama')],
  ['author', text('somebody')],
])

async function make(format: string, extra = {}, model = sampleModel(weights, metadata)): Promise<Uint8Array> {
  return [...(await convertToFiles(model, format, { extra, deterministic: true })).values()][0]!
}

/** Formats that hold text under any key, and more than one tensor. */
const editable = formats.filter(
  ({ capabilities: { write } }) =>
    write?.maxTensors !== 1 && write?.metadata('author', text('x')).fits && write.metadata('new', text('x')).fits,
)
const single = editable.filter(({ id }) => id !== 'aeroset')

describe.each(single.map(({ id }) => id))('%s', (id) => {
  test('sets, adds, unsets and renames, whatever way it takes', async () => {
    const start = await make(id)
    const set = await edit(start, id, { set: [['author', 'me']] })
    expect(set.after.metadata.get('author')).toEqual(text('me'))
    const added = await edit(set.bytes, id, { set: [['new', 'x'.repeat(100)]] })
    expect(added.after.metadata.get('new')).toEqual(text('x'.repeat(100)))
    expect(added.after.metadata.get('author')).toEqual(text('me'))
    const unset = await edit(added.bytes, id, { unset: ['author'] })
    expect([...unset.after.metadata.keys()]).not.toContain('author')
    const renamed = await edit(unset.bytes, id, { rename: [['b.weight', 'zz.a.much.longer.name.than.before']] })
    expect(renamed.after.tensors.map(({ name }) => name)).toContain('zz.a.much.longer.name.than.before')
    const swapped = await edit(renamed.bytes, id, {
      rename: [
        ['a.weight', 'c.weight'],
        ['c.weight', 'a.weight'],
      ],
    })
    expect(swapped.after.tensors.find(({ name }) => name === 'a.weight')?.shape).toEqual([7, 3])
    expect(swapped.after.metadata.get('new')).toEqual(text('x'.repeat(100)))
  })

  test('an edit that changes nothing has nothing to write', async () => {
    const { how, patch } = await edit(await make(id), id, { set: [['author', 'somebody']] })
    expect([how, patch?.patches]).toEqual(['in place', []])
  })
})

describe('room', () => {
  test.each(['safetensors', 'gguf'])('%s with slack is edited in place until the slack is used up', async (id) => {
    const slack = await make(id, { 'header-slack': 600 })
    expect(slack.byteLength).toBeGreaterThanOrEqual((await make(id)).byteLength + 600)
    const first = await edit(slack, id, {
      set: [['new', 'x'.repeat(200)]],
      rename: [['a.weight', `z.${'y'.repeat(40)}`]],
    })
    const second = await edit(first.bytes, id, { set: [['newer', 'x'.repeat(200)]] })
    const third = await edit(second.bytes, id, { unset: ['new'] })
    expect([first.how, second.how, third.how]).toEqual(['in place', 'in place', 'in place'])
    expect(third.bytes.byteLength).toBe(slack.byteLength)
    expect([...third.after.metadata.keys()].sort()).toEqual(['author', 'general.architecture', 'newer'])
    expect((await edit(third.bytes, id, { set: [['newest', 'x'.repeat(700)]] })).how).toBe('rewrite')
  })

  test.each(['safetensors', 'gguf'])('%s without slack is rewritten when the header grows', async (id) => {
    expect((await edit(await make(id), id, { set: [['new', 'x'.repeat(200)]] })).how).toBe('rewrite')
  })

  test('the alignment of GGUF is room as well', async () => {
    const model = sampleModel(weights, new Map([...metadata, ['general.alignment', { type: 'u32', value: 4096 }]]))
    const { how, patch } = await edit(await make('gguf', {}, model), 'gguf', { set: [['new', 'x'.repeat(200)]] })
    expect([how, patch?.patches.length]).toEqual(['in place', 1])
  })
})

describe('types', () => {
  const typed = new Map<string, MetaValue>([
    ['general.architecture', text('llama')],
    ['count', { type: 'u32', value: 3 }],
    ['big', { type: 'u64', value: 5n }],
    ['rate', { type: 'f32', value: 0.5 }],
    ['on', { type: 'bool', value: true }],
    ['ids', listOf('i32', [{ type: 'i32', value: 1 }])],
  ])
  const file = make('gguf', {}, sampleModel(weights, typed))

  test('entries keep their types and places', async () => {
    const set = [
      ['count', '7'],
      ['big', '18446744073709551615'],
      ['rate', '0.25'],
      ['on', 'false'],
      ['ids', '[4, -5]'],
    ] as const
    const { after, before } = await edit(await file, 'gguf', { set })
    expect([...after.metadata.keys()]).toEqual([...before.metadata.keys()])
    expect(after.metadata.get('count')).toEqual({ type: 'u32', value: 7 })
    expect(after.metadata.get('big')).toEqual({ type: 'u64', value: 18446744073709551615n })
    expect(after.metadata.get('rate')).toEqual({ type: 'f32', value: 0.25 })
    expect(after.metadata.get('on')).toEqual({ type: 'bool', value: false })
    const ids = after.metadata.get('ids')
    expect(ids?.type === 'array' && [ids.item, ids.values().map((item) => 'value' in item && item.value)]).toEqual([
      'i32',
      [4, -5],
    ])
  })

  test.each([
    ['count', '-1'],
    ['count', '4294967296'],
    ['count', 'many'],
    ['rate', 'fast'],
    ['rate', '1e39'],
    ['on', 'perhaps'],
    ['ids', '5'],
    ['ids', '[2147483648]'],
  ])('%s is not set to %s', async (key, value) => {
    await expect(edit(await file, 'gguf', { set: [[key, value]] })).rejects.toMatchObject({ code: 'edit/value-type' })
  })
})

describe('refusals', () => {
  test('unknown keys and tensors, contradictions and clashes', async () => {
    const file = await make('safetensors')
    const code = (edits: Edits) => edit(file, 'safetensors', edits).catch((error) => error.code)
    expect(await code({ unset: ['nobody'] })).toBe('edit/no-such-key')
    expect(await code({ set: [['author', 'x']], unset: ['author'] })).toBe('usage/option')
    expect(await code({ rename: [['nobody', 'x']] })).toBe('usage/no-such-tensor')
    expect(await code({ rename: [['a.weight', 'b.weight']] })).toBe('write/duplicate-name')
  })
})

describe('what a container only carries', () => {
  test('is edited in its own form and finds the way home', async () => {
    const typed: [string, MetaValue][] = [
      ['zulu', text('last by name')],
      ['u32', { type: 'u32', value: 7 }],
      ['words', listOf('str', [text('a')])],
    ]
    const home = await make('gguf', {}, sampleModel([sampleTensor('w', 'f32', [2])], new Map([...metadata, ...typed])))
    const model = await openModel(new MemorySource(home, 'm'), { from: 'gguf' })
    const away = await make('safetensors', { 'header-slack': 4096 }, model)
    const { how, after } = await edit(away, 'safetensors', { set: [['u32', '8']], rename: [['w', 'v']] })
    expect(how).toBe('in place')
    const back = await openModel(new MemorySource(await make('gguf', {}, after), 'm'), { from: 'gguf' })
    expect(back.metadata.get('u32')).toEqual({ type: 'u32', value: 8 })
    expect([...back.metadata.keys()]).toEqual([...model.metadata.keys()])
    expect(back.tensors.map(({ name }) => name)).toEqual(['v'])
  })
})
