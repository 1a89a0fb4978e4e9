import { describe, expect, it } from 'vitest'
import { countingSource, extractTensor, mapSource, openModel, readPayload, verifySource } from '../../../src/kit.js'
import { fixtureBytes, loadCases } from '../../support/fixtures.js'
import {
  bin,
  f32,
  failure,
  findingsOf,
  floats,
  header,
  hex,
  join,
  key,
  modelFile,
  open,
  optimizerFile,
  parameter,
  parameterFile,
  shape,
  sourceOf,
  str,
  tensor,
  u32,
} from './build.js'

describe('what is in a file', () => {
  it('a model, with names, paths and statistics', async () => {
    const { model, findings } = await open(
      modelFile([key('encoder', 'w'), parameter([2, 3], [['Adam.m1', tensor([2, 3])]])], [key('scale'), parameter([])]),
    )
    expect(findings).toEqual([])
    expect(model).toMatchObject({ format: 'primitiv', version: '0.1', variant: 'model' })
    expect([...model.tensors]).toMatchObject([
      { name: 'encoder.w', path: ['encoder', 'w'], shape: [2, 3], order: 'column', role: 'weight' },
      { name: 'encoder.w#Adam.m1', path: ['encoder', 'w'], stat: 'Adam.m1', role: 'state' },
      { name: 'scale', path: ['scale'], shape: [] },
    ])
  })

  it('a shape, a tensor and a parameter, each alone', async () => {
    const alone = await open(join(header(0), shape([3, 4], 2)))
    expect(alone.model).toMatchObject({
      variant: 'shape',
      tensors: [{ name: '', path: [], shape: [3, 4, 2], data: null }],
    })
    expect(alone.findings.map(({ code }) => code)).toEqual(['primitiv/batch', 'primitiv/no-reference'])
    const { model } = await open(join(header(0x100), tensor([3, 4])))
    expect(model.variant).toBe('tensor')
    expect([...model.tensors]).toMatchObject([{ name: '', path: [], shape: [3, 4] }])
    expect((await open(parameterFile(parameter([5])))).model.variant).toBe('parameter')
  })

  it('the element (i, j) at i + rows·j', async () => {
    const { model } = await open(fixtureBytes('primitiv', 'tensor_3d_2x3x4.tensor'))
    const values = async (slice: string): Promise<number[]> => {
      const part = extractTensor(model, '', { slice })
      return [...new Float32Array((await readPayload(part.data!)).buffer)]
    }
    // The values count up in stored order: element (i, j, k) is i + 2·(j + 3·k).
    expect(await values('1,:,0')).toEqual([1, 3, 5])
    expect(await values(':,2,3')).toEqual([22, 23])
  })

  it('every length form that the reference takes', async () => {
    const long = join(
      header(0x300),
      u32(1),
      'dd00000001 db00000001 61',
      'dc0001',
      u32(2),
      u32(1),
      'c500080000803f00000040',
      u32(0),
    )
    expect([...(await open(long)).model.tensors]).toMatchObject([{ path: ['a'], shape: [2] }])
  })

  it('keys of many and of long names', async () => {
    const names = Array.from({ length: 20 }, (_, i) => `n${i}`)
    const many = join('dc0014', ...names.map(str))
    const long = 'x'.repeat(70_000)
    const longKey = join('91 db 00011170', new Uint8Array(Buffer.from(long)))
    const { model } = await open(modelFile([many, parameter([1])], [longKey, parameter([1])]))
    expect(model.tensors.map(({ path }) => path)).toEqual([names, [long]])
  })

  it('nothing but the bytes around the data, when the data is large', async () => {
    const data = join(shape([512, 1024]), bin(new Uint8Array(1 << 21)), u32(0))
    const entries = Array.from(
      { length: 12 },
      (_, i) => [key('sub', `layer${String(i).padStart(2, '0')}`), data] as const,
    )
    const count = { reads: 0, bytes: 0 }
    const model = await openModel(countingSource(sourceOf(modelFile(...entries)), count))
    expect(model.tensors.length).toBe(12)
    // 64 KiB are read to recognise the file.
    expect(count.bytes - 65_536).toBeLessThan(12 * 600)
    expect(count.reads).toBeLessThan(30)
  })

  it('many small parameters with few reads', async () => {
    const entries = Array.from(
      { length: 3000 },
      (_, i) => [key(`p${String(i).padStart(4, '0')}`), parameter([64])] as const,
    )
    const count = { reads: 0, bytes: 0 }
    const bytes = modelFile(...entries)
    const model = await openModel(countingSource(sourceOf(bytes), count))
    expect(model.tensors.length).toBe(3000)
    expect(model.tensors.at(2999)!.data!.origin!.offset).toBe(bytes.byteLength - 5 - 256)
    expect(count.reads).toBeLessThan(30)
  })
})

describe('the byte map', () => {
  it('names every field', async () => {
    const bytes = modelFile([key('a', 'b'), parameter([2], [['m', tensor([])]])])
    const { files } = await mapSource(sourceOf(bytes))
    const rows = files[0]!.extents.map(({ path, length, kind }) => [path, length, kind])
    expect(rows).toEqual([
      ['ver_major', 5, 'field'],
      ['ver_minor', 5, 'field'],
      ['data_type', 5, 'field'],
      ['param_count', 5, 'field'],
      ['params[0].key', 1, 'field'],
      ['params[0].key[0]', 2, 'field'],
      ['params[0].key[1]', 2, 'field'],
      ['params["a.b"].value.dims', 1, 'field'],
      ['params["a.b"].value.dims[0]', 5, 'field'],
      ['params["a.b"].value.batch', 5, 'field'],
      ['params["a.b"].value.data_header', 2, 'field'],
      ['params["a.b"].value.data', 8, 'data'],
      ['params["a.b"].stat_count', 5, 'field'],
      ['params["a.b"].stats[0].key', 2, 'field'],
      ['params["a.b"].stats["m"].dims', 1, 'field'],
      ['params["a.b"].stats["m"].batch', 5, 'field'],
      ['params["a.b"].stats["m"].data_header', 2, 'field'],
      ['params["a.b"].stats["m"].data', 4, 'data'],
    ])
  })

  it('names the settings of an optimizer', async () => {
    const { files } = await mapSource(sourceOf(optimizerFile([['Optimizer.epoch', u32(3)]], [['SGD.eta', f32(0.5)]])))
    expect(files[0]!.extents.slice(3).map(({ path, value }) => [path, value])).toEqual([
      ['uint_configs', 1],
      ['uint_configs[0].key', 'Optimizer.epoch'],
      ['uint_configs["Optimizer.epoch"]', 3],
      ['float_configs', 1],
      ['float_configs[0].key', 'SGD.eta'],
      ['float_configs["SGD.eta"]', 0.5],
    ])
  })
})

describe('what is wrong', () => {
  const wrong: [what: string, bytes: Uint8Array, code: string, offset: number, path: string][] = [
    ['version', join(u32(0), u32(2), u32(0x200)), 'version', 0, 'ver_major'],
    ['unknown type', header(0x500), 'data-type', 10, 'data_type'],
    ['odd type', header(0x201), 'data-type', 10, 'data_type'],
    ['kind of dims', parameterFile(u32(1)), 'value-kind', 15, 'value.dims'],
    ['kind of a dim', parameterFile('91 a161'), 'value-kind', 16, 'value.dims[0]'],
    ['kind of data', parameterFile(shape([]), 'a4 00000000'), 'value-kind', 21, 'value.data'],
    ['small form of a dim', parameterFile('91 01', u32(1), bin(floats(1)), u32(0)), 'number-form', 16, 'value.dims[0]'],
    ['negative dim', parameterFile('91 ff'), 'number-range', 16, 'value.dims[0]'],
    ['wide dim', parameterFile('91 cf0000000100000000'), 'number-range', 16, 'value.dims[0]'],
    ['nine dims', parameterFile(shape([1, 1, 1, 1, 1, 1, 1, 1, 1])), 'shape-depth', 15, 'value.dims'],
    ['zero', parameterFile(shape([2, 0]), 'c400', u32(0)), 'shape-zero', 21, 'value.dims[1]'],
    ['batch zero', parameterFile(shape([2], 0), 'c400', u32(0)), 'shape-zero', 21, 'value.batch'],
    ['batch of a value', parameterFile(tensor([2], 2), u32(0)), 'value-batch', 21, 'value.batch'],
    ['data too short', parameterFile(shape([2]), bin(floats(1)), u32(0)), 'data-size', 26, 'value.data'],
    ['product beyond 2^32', parameterFile(shape([65_536, 65_536]), 'c400', u32(0)), 'data-size', 31, 'value.data'],
    [
      'product that wraps',
      parameterFile(shape([3, 1_431_655_766]), bin(floats(1, 2)), u32(0)),
      'data-size',
      31,
      'value.data',
    ],
    [
      'product beyond 2^53',
      parameterFile(shape(Array.from({ length: 8 }, () => 0xffff_ffff)), bin(floats(1)), u32(0)),
      'data-size',
      61,
      'value.data',
    ],
    ['too many statistics', parameterFile(tensor([1]), u32(9)), 'count', 32, 'stat_count'],
    ['too many parameters', join(header(0x300), u32(0xffff_ffff)), 'count', 15, 'param_count'],
    ['empty key', modelFile([key(), parameter([])]), 'empty-key', 20, 'params[0].key'],
    [
      'clash',
      modelFile([key('a'), parameter([])], [key('a', 'b'), parameter([])]),
      'key-clash',
      20 + 3 + 17,
      'params["a.b"].key',
    ],
    ['kind of a key', modelFile([str('a'), parameter([])]), 'value-kind', 20, 'params[0].key'],
    ['kind of a name', modelFile([list1(u32(1)), parameter([])]), 'value-kind', 21, 'params[0].key[0]'],
    ['kind of a map', join(header(0x400), 'c0'), 'value-kind', 15, 'uint_configs'],
    ['kind of a setting', optimizerFile([['x', f32(1)]], []), 'value-kind', 18, 'uint_configs["x"]'],
    [
      'form of a setting',
      optimizerFile([], [['x', hex('cb3ff0000000000000')]]),
      'number-form',
      19,
      'float_configs["x"]',
    ],
    ['number for a float', optimizerFile([], [['x', u32(1)]]), 'value-kind', 19, 'float_configs["x"]'],
  ]

  it.each(wrong)('%s', async (_what, bytes, code, offset, path) => {
    expect(await failure(bytes)).toMatchObject({ code: `primitiv/${code}`, offset, path })
    const { verdict, findings } = await verifySource(sourceOf(bytes))
    expect(verdict).toBe('errors')
    expect(findings.filter(({ severity }) => severity === 'error')[0]!.code).toBe(`primitiv/${code}`)
  })

  it('goes on behind what it can judge', async () => {
    const bytes = modelFile(
      [key('a'), join(shape([2]), bin(floats(1)), u32(0))],
      [key('b'), join('91 02', u32(1), bin(floats(1, 2)), u32(0))],
      [key('c'), join(tensor([1], 2), u32(0))],
      [key('d'), parameter([1])],
    )
    const found = (await findingsOf(bytes)).map(({ code, path }) => [code, path])
    expect(found).toEqual([
      ['primitiv/data-size', 'params["a"].value.data'],
      ['primitiv/number-form', 'params["b"].value.dims[0]'],
      ['primitiv/value-batch', 'params["c"].value.batch'],
    ])
  })

  it('says each thing once, however often a window is too small for a record', async () => {
    const odd = new Uint8Array([0xff, ...new Uint8Array(3000).fill(0x61)])
    const entries = Array.from({ length: 40 }, (_, i) => [key(`p${10 + i}`, odd), parameter([i + 1])] as const)
    const found = await findingsOf(modelFile(...entries))
    expect(found.map(({ code }) => code)).toEqual(entries.map(() => 'primitiv/name-utf8'))
    const { files } = await mapSource(sourceOf(modelFile(...entries)))
    expect(files[0]!.overlaps).toEqual([])
  })

  it('tells a wrong type by the body', async () => {
    const body = parameter([2], [['m', tensor([2])]])
    const asTensor = join(header(0x100), body)
    expect(await failure(asTensor)).toMatchObject({ code: 'primitiv/data-type', offset: 10, path: 'data_type' })
    expect(await failure(join(header(0), body))).toMatchObject({ code: 'primitiv/data-type' })
    expect((await failure(join(header(0), tensor([2])))).message).toContain('whole Tensor')
    const [trailing] = await findingsOf(join(header(0x100), tensor([2]), '00'))
    expect(trailing).toMatchObject({ code: 'primitiv/trailing-bytes', severity: 'warning', offset: 15 + 21 })
  })
})

describe('what is odd', () => {
  it('duplicates: the first statistic and the last parameter count', async () => {
    const { model, findings } = await open(
      modelFile(
        [key('w'), parameter([1], [['s', tensor([1])]])],
        [
          key('w'),
          parameter(
            [2],
            [
              ['s', tensor([2])],
              ['s', tensor([3])],
            ],
          ),
        ],
      ),
    )
    expect(findings.map(({ code }) => code)).toEqual(['primitiv/duplicate-stat', 'primitiv/duplicate-key'])
    expect(model.tensors.map(({ name, shape: dims, extra }) => [name, dims, extra])).toEqual([
      ['w~2', [1], { repeat: 1 }],
      ['w#s~2', [1], { repeat: 1 }],
      ['w', [2], undefined],
      ['w#s', [2], undefined],
      ['w#s~3', [3], { stat_repeat: 1 }],
    ])
    expect(model.tensors.every(({ path }) => path?.[0] === 'w')).toBe(true)
  })

  it('names with dots are told apart', async () => {
    const { model, findings } = await open(modelFile([key('x', 'y'), parameter([1])], [key('x.y'), parameter([2])]))
    expect(findings.map(({ code }) => code)).toEqual(['primitiv/name-separator', 'primitiv/name-ambiguous'])
    expect(model.tensors.map(({ name, path }) => [name, path])).toEqual([
      ['x.y', ['x', 'y']],
      ['x.y~2', ['x.y']],
    ])
  })

  it('names that are not UTF-8 keep their bytes', async () => {
    const odd = hex('61 ff 5c')
    const { model, findings } = await open(modelFile([key('sub', odd), parameter([1], [[hex('fe'), tensor([1])]])]))
    expect(findings.map(({ code }) => code)).toEqual(['primitiv/name-utf8', 'primitiv/name-utf8'])
    expect([...model.tensors]).toMatchObject([
      { name: 'sub.a\\xff\\\\', path: ['sub', 'a\\xff\\\\'], rawName: [hex('737562'), odd] },
      { stat: '\\xfe', rawName: [hex('737562'), odd, hex('fe')] },
    ])
  })

  it('a batch above 1 in a statistic', async () => {
    const { model, findings } = await open(parameterFile(parameter([3], [['h', tensor([3], 2)]])))
    expect(findings.map(({ code, path }) => [code, path])).toEqual([['primitiv/batch', 'stats["h"].batch']])
    expect(model.tensors.at(1)).toMatchObject({ shape: [3, 2], extra: { batch: 2 } })
  })

  it('unsorted keys are no reason to complain, and hide no clash', async () => {
    const a = [key('a'), parameter([1])] as const
    const b = [key('b'), parameter([1])] as const
    expect(await findingsOf(modelFile(b, a))).toEqual([])
    const clash = await findingsOf(modelFile([key('a', 'x'), parameter([1])], b, a))
    expect(clash).toMatchObject([{ code: 'primitiv/key-clash', offset: 20 + 5 + 22 + 3 + 22 }])
  })

  it('other forms of number, when asked to be lenient', async () => {
    const shrunk = join('00 01 cd0200', '91 03 01', bin(floats(1, 2, 3)), '00')
    const { model, findings } = await openNamed(shrunk)
    expect([...model.tensors]).toMatchObject([{ shape: [3] }])
    expect(new Set(findings.map(({ code }) => code))).toEqual(new Set(['primitiv/number-form-taken']))
    expect(findings.length).toBe(6)
    const settings = optimizerFile(
      [['Optimizer.epoch', hex('07')]],
      [
        ['SGD.eta', hex('cb3fb999999999999a')],
        ['x.y', hex('01')],
      ],
    )
    const lenient = await open(settings, true)
    expect(lenient.model.metadata.get('SGD.eta')).toEqual({ type: 'f32', value: Math.fround(0.1) })
    expect(lenient.model.metadata.get('x.y')).toEqual({ type: 'f32', value: 1 })
    expect(lenient.model.metadata.get('Optimizer.epoch')).toEqual({ type: 'u32', value: 7 })
    expect(lenient.findings.filter(({ severity }) => severity === 'warning').length).toBe(3)
    expect((await findingsOf(settings)).every(({ severity }) => severity === 'error')).toBe(true)
  })
})

describe('hostile files', () => {
  it('cut at every byte', async () => {
    const bytes = modelFile(
      [key('a', 'b'), parameter([2], [['m', tensor([2, 2])]])],
      [key('c'.repeat(40)), parameter([1, 1])],
    )
    for (let end = 1; end < bytes.byteLength; end++) {
      const { verdict, findings } = await verifySource(sourceOf(bytes.subarray(0, end)))
      expect(verdict, `cut at ${end}`).toBe('errors')
      const [error] = findings.filter(({ severity }) => severity === 'error')
      expect(error!.code, `cut at ${end}`).toMatch(/^(primitiv|msgpack|open)\//)
      expect(error!.offset, `cut at ${end}`).toBeLessThanOrEqual(end)
      if (end >= 15) expect(error!.path, `cut at ${end}`).not.toBe('')
    }
  })

  it('length bombs take no memory', async () => {
    const bombs = [
      parameterFile(shape([2 ** 29]), 'c680000000', new Uint8Array(8)),
      parameterFile('dd ffffffff'),
      parameterFile('dd 0000000a'),
      join(header(0x300), u32(1), 'ddffffffff'),
      join(header(0x300), u32(1), '91 dbffffffff'),
      join(header(0x400), 'dfffffffff'),
      join(header(0x300), u32(0xffff_ffff), new Uint8Array(1000)),
      parameterFile(tensor([1]), u32(0xffff_ffff), new Uint8Array(1000)),
    ]
    const before = process.memoryUsage()
    for (const bomb of bombs)
      expect((await failure(bomb)).code).toMatch(/^(msgpack\/length|primitiv\/(count|shape-depth))$/)
    const after = process.memoryUsage()
    expect(after.arrayBuffers - before.arrayBuffers).toBeLessThan(1 << 24)
  })

  it('many equal keys are checked in linear time', async () => {
    const one = join(key('same'), parameter([]))
    const count = 20_000
    const bytes = new Uint8Array(20 + count * one.byteLength)
    bytes.set(join(header(0x300), u32(count)))
    for (let i = 0; i < count; i++) bytes.set(one, 20 + i * one.byteLength)
    const start = performance.now()
    const { model } = await open(bytes)
    expect(performance.now() - start).toBeLessThan(4000)
    expect(new Set(model.tensors.map(({ name }) => name)).size).toBe(count)
    expect(model.tensors.at(-1)!.name).toBe('same')
  })
})

describe('recognising', () => {
  it('takes its own files by content', async () => {
    for (const { file } of loadCases('primitiv').filter(({ verdict }) => verdict === 'accept')) {
      const { model } = await open(fixtureBytes('primitiv', file))
      expect(model.format).toBe('primitiv')
    }
  })

  it('leaves other files alone', async () => {
    for (const bytes of [
      hex('93 00 01 cd0200'),
      new Uint8Array(64),
      hex('ce000000'),
      new Uint8Array(Buffer.from('hello')),
    ]) {
      const { format } = await verifySource(sourceOf(bytes, 'm.model'))
      expect(format).not.toBe('primitiv')
    }
  })
})

const list1 = (item: Uint8Array): Uint8Array => join('91', item)

/** Without the usual forms in the header only the name tells what a file is. */
async function openNamed(bytes: Uint8Array): ReturnType<typeof open> {
  const findings: Awaited<ReturnType<typeof open>>['findings'] = []
  const model = await openModel(sourceOf(bytes, 'x.param'), {
    lenient: true,
    onFinding: (finding) => findings.push(finding),
  })
  return { model, findings }
}
