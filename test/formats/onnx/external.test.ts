// Data in other files: what is found, what is refused, and that nothing outside the model's directory is touched.
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { BlobSource, MemorySource, readPayload } from '../../../src/kit.js'
import { FileSource, openModel, verifySource } from '../../../src/kit-node.js'
import { useTempDir } from '../../node/temp-dir.js'
import {
  attribute,
  codesOf,
  dataType,
  dims,
  external,
  floats,
  initializer,
  modelOf,
  node,
  open,
  protoBytes,
  protoInt,
  protoMessage,
  protoText,
  rawData,
  tensorName,
} from './build.js'

const at = useTempDir()
const fields = (entries: Readonly<Record<string, string>>, count = 2) => [
  ...dims(count),
  dataType(1),
  tensorName('w'),
  ...external(entries),
]
const model = (entries: Readonly<Record<string, string>>, count = 2): Uint8Array =>
  modelOf(initializer(...fields(entries, count)))
const files = { 'w.bin': floats(1, 2, 3), 'sub/w.bin': floats(4, 5) }

describe('a file for every tensor', () => {
  const count = 300
  const name = (i: number): string => `t${i}.bin`
  const many = modelOf(
    ...Array.from({ length: count }, (_, i) =>
      initializer(...dims(1), dataType(1), tensorName(`t${i}`), ...external({ location: name(i) })),
    ),
  )

  it('opens each of them once', async () => {
    let opened = 0
    const source = new MemorySource(many, 'm.onnx')
    source.sibling = async (file) => {
      opened++
      return new MemorySource(floats(Number(/\d+/.exec(file)![0])), file)
    }
    const { tensors, files: all } = await openModel(source)
    const read = await Promise.all(tensors.map(({ data: payload }) => readPayload(payload!)))
    expect(read).toEqual(Array.from({ length: count }, (_, i) => floats(i)))
    expect([all.length, opened]).toEqual([count + 1, count])
  })

  it('stops looking for files after a thousand that are not there', async () => {
    const tried: string[] = []
    const lost = modelOf(
      ...Array.from({ length: 1200 }, (_, i) =>
        initializer(...dims(1), dataType(1), tensorName(`t${i}`), ...external({ location: name(i) })),
      ),
    )
    const source = new MemorySource(lost, 'm.onnx')
    source.sibling = async (file) => {
      tried.push(file)
      throw new Error('there is no such file')
    }
    const { findings } = await verifySource(source)
    expect(findings.filter(({ code }) => code === 'onnx/external-missing').length).toBe(1200)
    expect(tried.length).toBe(1000)
  })
})

describe('finding the data', () => {
  it.each<[string, Readonly<Record<string, string>>, readonly number[]]>([
    ['offset and length', { location: 'w.bin', offset: '4', length: '8' }, [2, 3]],
    ['no length, to the end', { location: 'w.bin', offset: '4' }, [2, 3]],
    ['neither', { location: 'sub/w.bin' }, [4, 5]],
    ['a dot', { location: './sub/./w.bin', offset: '00', length: '08' }, [4, 5]],
  ])('%s', async (_, entries, values) => {
    const { tensors, files: opened } = await open(model(entries), files)
    expect(await readPayload(tensors.at(0)!.data!)).toEqual(floats(...values))
    expect(opened.length).toBe(2)
    expect(await codesOf(model(entries), files)).toEqual([])
  })

  it('opens a file once, and lets tensors share bytes', async () => {
    const both = modelOf(
      initializer(...fields({ location: 'w.bin', length: '8' })),
      initializer(...dims(1), dataType(1), tensorName('v'), ...external({ location: './w.bin', length: '4' })),
    )
    const { tensors, files: opened } = await open(both, files)
    expect(opened.length).toBe(2)
    expect(tensors.at(0)!.data!.origin!.source).toBe(tensors.at(1)!.data!.origin!.source)
  })
})

describe('refusing', () => {
  it.each<[string, Readonly<Record<string, string>>, string]>([
    ['no location', { offset: '0' }, 'onnx/external-no-location'],
    ['an empty location', { location: '' }, 'onnx/external-no-location'],
    ['a missing file', { location: 'none.bin' }, 'onnx/external-missing'],
    ['a way up', { location: '../w.bin' }, 'onnx/external-path'],
    ['a way down and up', { location: 'sub/../../w.bin' }, 'onnx/external-path'],
    ['an absolute path', { location: '/etc/hostname' }, 'onnx/external-path'],
    ['a backslash', { location: '..\\w.bin' }, 'onnx/external-path'],
    ['a drive', { location: 'C:w.bin' }, 'onnx/external-path'],
    ['an address', { location: 'http://example.com/w.bin' }, 'onnx/external-path'],
    ['a NUL', { location: 'w.bin\u0000.png' }, 'onnx/external-path'],
    ['a dot alone', { location: '.' }, 'onnx/external-path'],
    ['a negative offset', { location: 'w.bin', offset: '-4' }, 'onnx/external-number'],
    ['an offset in hexadecimal', { location: 'w.bin', offset: '0x4' }, 'onnx/external-number'],
    ['a length with a space', { location: 'w.bin', length: '8 ' }, 'onnx/external-number'],
    ['an empty length', { location: 'w.bin', length: '' }, 'onnx/external-number'],
    ['an offset past the end', { location: 'w.bin', offset: '8' }, 'onnx/external-range'],
    ['an offset of 10^19', { location: 'w.bin', offset: '10000000000000000000' }, 'onnx/external-range'],
    ['a length past the end', { location: 'w.bin', length: '16' }, 'onnx/external-range'],
    ['another length', { location: 'w.bin', length: '12' }, 'onnx/size'],
    ['a length of 0', { location: 'w.bin', length: '0' }, 'onnx/size'],
  ])('%s', async (_, entries, code) => {
    expect(await codesOf(model(entries), files)).toEqual([code])
    await expect(open(model(entries), files)).rejects.toMatchObject({ code })
  })

  it('looks at tensors that are not listed too', async () => {
    const hidden = attribute('value', protoMessage(5, fields({ location: '../w.bin' })))
    expect(await codesOf(modelOf(node('ConstantOfShape', 'y', hidden)), files)).toEqual(['onnx/external-path'])
  })
})

describe('words about', () => {
  it.each<[string, Readonly<Record<string, string>>, string]>([
    ['bytes behind data without a length', { location: 'w.bin' }, 'onnx/external-rest'],
    ['keys without a meaning', { location: 'w.bin', length: '8', __class__: 'x' }, 'onnx/external-key'],
    ['a checksum', { location: 'w.bin', length: '8', checksum: 'abc' }, 'onnx/external-checksum'],
  ])('%s', async (_, entries, code) => {
    expect(await codesOf(model(entries), files)).toEqual([code])
  })

  it('a key that occurs twice, and files that are named but not used', async () => {
    const location = (name: string) => protoMessage(13, [protoText(1, 'location'), protoText(2, name)])
    const twice = [...dims(2), dataType(1), tensorName('w'), location('none'), location('sub/w.bin'), protoInt(14, 1)]
    expect(await codesOf(modelOf(initializer(...twice)), files)).toEqual(['onnx/repeated'])
    const here = [...dims(2), dataType(1), tensorName('w'), location('none'), rawData(floats(1, 2))]
    expect(await codesOf(modelOf(initializer(...here)))).toEqual(['onnx/external-unused'])
    const both = [...fields({ location: 'sub/w.bin' }), protoBytes<never>(9, floats(1, 2))]
    expect(await codesOf(modelOf(initializer(...both)), files)).toEqual(['onnx/two-fields'])
  })
})

it('files of one drop in a browser, by their path in it', async () => {
  const blobs = new Map([['sub/w.bin', new Blob([Uint8Array.from(floats(4, 5))])]])
  const opened = await openModel(
    new BlobSource(new Blob([Uint8Array.from(model({ location: 'sub/w.bin' }))]), 'm.onnx', blobs),
  )
  expect(await readPayload(opened.tensors.at(0)!.data!)).toEqual(floats(4, 5))
})

describe('on disk', () => {
  const write = (bytes: Uint8Array): string => {
    mkdirSync(at('model', 'data'), { recursive: true })
    writeFileSync(at('model', 'm.onnx'), bytes)
    writeFileSync(at('secret.bin'), floats(7, 7))
    return at('model', 'm.onnx')
  }

  it('reads from folders below', async () => {
    const path = write(model({ location: 'data/w.bin' }))
    writeFileSync(at('model', 'data', 'w.bin'), floats(1, 2))
    const opened = await openModel(await FileSource.open(path))
    expect(await readPayload(opened.tensors.at(0)!.data!)).toEqual(floats(1, 2))
    await opened.files[0]!.close()
  })

  it.each([
    ['a link to a file', (): void => symlinkSync('../../secret.bin', at('model', 'data', 'w.bin')), 'data/w.bin'],
    ['a linked folder', (): void => symlinkSync('..', at('model', 'up')), 'up/secret.bin'],
  ])('%s that leads out is not followed', async (_, link, location) => {
    const path = write(model({ location }))
    link()
    const { findings } = await verifySource(await FileSource.open(path))
    expect(findings.map(({ code }) => code)).toContain('onnx/external-path')
  })

  it('a folder in place of a file', async () => {
    const path = write(model({ location: 'data' }))
    const { findings } = await verifySource(await FileSource.open(path))
    expect(findings.map(({ code }) => code)).toContain('onnx/external-missing')
  })
})
