import { describe, expect, it } from 'vitest'
import { MemorySource, openModel, verifySource } from '../../../src/kit.js'
import { convertToFiles } from '../../support/convert.js'
import { fixtureBytes, fixtureSource } from '../../support/fixtures.js'
import { architecture, build, entry, info, u32 } from './build.js'

const names = [1, 2, 3].map((no) => `model-0000${no}-of-00003.gguf`)
const set = (): Map<string, Uint8Array> => new Map(names.map((name) => [name, fixtureBytes('gguf', `split/${name}`)]))

function shard(no: number, count: number, tensors: number, name: string): Uint8Array {
  const keys = [
    entry('split.no', 2, [no, 0]),
    entry('split.tensors.count', 5, u32(tensors)),
    entry('split.count', 2, [count, 0]),
  ]
  return build({ entries: no === 0 ? [architecture, ...keys] : keys, infos: [info({ name })] })
}

const pair = (second: Uint8Array, tensors = 2): MemorySource => {
  const files = new Map([
    ['m-00001-of-00002.gguf', shard(0, 2, tensors, 'a')],
    ['m-00002-of-00002.gguf', second],
  ])
  return new MemorySource(files.get('m-00001-of-00002.gguf')!, 'm-00001-of-00002.gguf', files)
}

describe('a set of files', () => {
  it('is one model, under the name of its first file', async () => {
    const model = await openModel(fixtureSource('gguf', `split/${names[0]}`))
    expect(model).toMatchObject({
      format: 'gguf',
      variant: 'split',
      parts: [{ kind: 'gguf.split', value: { files: 3 } }],
    })
    expect(model.files.map((file) => file.name)).toEqual(names)
    expect(model.tensors.map((tensor) => tensor.name)).toEqual([
      'blk.0.w',
      'blk.1.w',
      'blk.2.w',
      'blk.3.w',
      'output.weight',
    ])
    expect([...model.metadata.keys()].some((key) => key.startsWith('split.'))).toBe(false)
  })

  it('is written as llama-gguf-split writes it', async () => {
    const model = await openModel(fixtureSource('gguf', `split/${names[0]}`))
    for (const name of ['model.gguf', 'model-00001-of-00002.gguf']) {
      const files = await convertToFiles(model, 'gguf', { name, shardSize: 128 })
      expect([...files.keys()]).toEqual(names)
      for (const [each, bytes] of set()) expect(Buffer.compare(files.get(each)!, bytes), each).toBe(0)
    }
  })

  it('becomes one file, and a set again', async () => {
    const model = await openModel(fixtureSource('gguf', `split/${names[0]}`))
    const one = await convertToFiles(model, 'gguf', { name: 'one.gguf' })
    expect([...one.keys()]).toEqual(['one.gguf'])
    const merged = await openModel(new MemorySource(one.get('one.gguf')!, 'one.gguf'))
    const files = await convertToFiles(merged, 'gguf', { name: 'model.gguf', shardSize: 128 })
    expect([...files.values()].map((bytes) => bytes.byteLength)).toEqual(
      [...set().values()].map((bytes) => bytes.byteLength),
    )
    const whole = await convertToFiles(merged, 'gguf', { name: 'w.gguf', shardSize: 1 << 20 })
    expect([...whole.keys()]).toEqual(['w.gguf'])
  })

  it('keeps its alignment in every file', async () => {
    const model = await openModel(fixtureSource('gguf', `split/${names[0]}`))
    const files = await convertToFiles(model, 'gguf', { name: 'a.gguf', shardSize: 128, align: 64 })
    const [name, bytes] = [...files][0]!
    const { verdict, findings } = await verifySource(new MemorySource(bytes, name, files))
    expect(verdict, JSON.stringify(findings)).toBe('ok')
  })

  it('shows a later file alone', async () => {
    const model = await openModel(fixtureSource('gguf', `split/${names[1]}`))
    expect(model.tensors.map((tensor) => tensor.name)).toEqual(['blk.2.w', 'blk.3.w'])
    const { findings } = await verifySource(fixtureSource('gguf', `split/${names[1]}`))
    expect(findings.map((finding) => finding.code)).toEqual(['gguf/later-shard', 'verify/no-checksums'])
  })

  it.each([
    ['gguf/shard-number', shard(0, 2, 2, 'b')],
    ['gguf/shard-number', shard(1, 3, 2, 'b')],
    ['gguf/shard-number', build({ infos: [info({ name: 'b' })] })],
    ['gguf/duplicate-name', shard(1, 2, 2, 'a')],
    ['gguf/shard-missing', build({ magic: 'XXXX' })],
  ])('finds what does not go together: %s', async (code, second) => {
    const { verdict, findings } = await verifySource(pair(second))
    expect(verdict).toBe('errors')
    expect(findings.map((finding) => finding.code)).toContain(code)
    await expect(openModel(pair(second))).rejects.toThrow()
  })

  it.each([
    ['m-00001-of-00002.gguf', shard(1, 2, 2, 'a')],
    ['m-00002-of-00002.gguf', shard(0, 2, 2, 'a')],
    ['m-00002-of-00003.gguf', shard(1, 2, 2, 'a')],
    ['m.gguf', shard(5, 2, 2, 'a')],
  ])('takes no file for another one of the set: %s', async (name, bytes) => {
    const source = () => new MemorySource(bytes, name, new Map([[name, bytes]]))
    const { findings } = await verifySource(source())
    const errors = findings.filter((finding) => finding.severity === 'error')
    expect(errors.map((finding) => [finding.code, finding.path])).toEqual([['gguf/shard-number', 'split.no']])
    await expect(openModel(source())).rejects.toThrow('the metadata say')
  })

  it('finds a different number of tensors than stated', async () => {
    const { findings } = await verifySource(pair(shard(1, 2, 2, 'b'), 9))
    const code = 'gguf/shard-tensors'
    expect(findings).toContainEqual(expect.objectContaining({ code, severity: 'warning' }))
    expect((await openModel(pair(shard(1, 2, 2, 'b'), 9))).tensors.length).toBe(2)
  })

  it('leaves out a damaged file when asked to be lenient, in opening as in verifying', async () => {
    const damaged = build({ infos: [info({ name: 'b', type: 99 })] })
    const { verdict, findings } = await verifySource(pair(damaged), { lenient: true })
    expect(verdict).toBe('warnings')
    expect(findings.map(({ code }) => code)).toContain('gguf/shard-missing-taken')
    const { tensors } = await openModel(pair(damaged), { lenient: true })
    expect(tensors.map(({ name }) => name)).toEqual(['a'])
  })

  it('misses files, but not without end', async () => {
    const first = (name: string) => new MemorySource(shard(0, 200, 2, 'a'), name)
    const lost = (await verifySource(first('m-00001-of-00200.gguf'))).findings.filter(
      (finding) => finding.code === 'gguf/shard-missing',
    )
    expect(lost.length).toBe(16)
    expect(lost[0]!.message).toContain('m-00002-of-00200.gguf')
    const unnamed = await verifySource(first('renamed.gguf'))
    expect(unnamed.verdict).toBe('warnings')
    expect(unnamed.findings.map((finding) => finding.code)).toContain('gguf/shard-name')
    const lenient = await openModel(first('m-00001-of-00200.gguf'), { lenient: true })
    expect(lenient.tensors.length).toBe(1)
  })

  it('closes the files that it opened when one is bad', async () => {
    const closed: string[] = []
    const watched = (source: MemorySource): MemorySource => {
      const { sibling } = source
      source.close = async () => void closed.push(source.name)
      source.sibling = async (name) => watched((await sibling.call(source, name)) as MemorySource)
      return source
    }
    const files = new Map([
      ['m-00002-of-00003.gguf', shard(1, 3, 3, 'b')],
      ['m-00003-of-00003.gguf', build({ magic: 'XXXX' })],
    ])
    const first = watched(new MemorySource(shard(0, 3, 3, 'a'), 'm-00001-of-00003.gguf', files))
    await expect(openModel(first)).rejects.toThrow()
    expect(closed.filter((name) => name !== first.name).sort()).toEqual([...files.keys()])
  })
})
