import { execFileSync, spawn } from 'node:child_process'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { Readable } from 'node:stream'
import { describe, expect, test } from 'vitest'
import type { Finding } from '../../src/kit.js'
import { spool } from '../../src/node/files/spool.js'
import { findModel, openInput } from '../../src/node/input.js'
import { useTempDir } from './temp-dir.js'

const at = useTempDir()
const codeOf = async (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'no error',
    (error) => error.code,
  )
const byExtension = (extension: string) => ({
  extensions: [extension],
  mainFile: (names: readonly string[]) => names.find((name) => name.endsWith(extension)),
})
const formats = [byExtension('.aa'), byExtension('.bb'), {}]

describe('openInput', () => {
  test('opens a path under the name that was given', async () => {
    writeFileSync(at('m.aa'), 'abc')
    const source = await openInput(at('m.aa'))
    expect([source.name, source.size]).toEqual([at('m.aa'), 3])
    await source.close()
  })

  test('opens the one model of a directory', async () => {
    mkdirSync(at('model'))
    for (const name of ['readme.txt', 'm.aa', '.hidden.bb']) writeFileSync(at('model', name), 'abc')
    const source = await openInput(at('model'), { formats })
    expect(source.name).toBe(at('model', 'm.aa'))
    expect(source.folder).toEqual({ name: 'model', files: ['m.aa', 'readme.txt'], below: [], isWhole: true })
    await source.close()
  })

  test('a file is just itself, unless it has a name under which models are published', async () => {
    for (const name of ['m.aa', 'main.aa', 'config.json']) writeFileSync(at(name), 'abc')
    const published = [{ ...byExtension('.aa'), published: ['main.aa'] }]
    const plain = await openInput(at('m.aa'), { formats: published })
    expect(plain.folder).toBeUndefined()
    await plain.close()
    const main = await openInput(at('main.aa'), { formats: published })
    expect(main.folder).toMatchObject({ files: ['config.json', 'm.aa', 'main.aa'], isWhole: false })
    await main.close()
  })

  test.each(['abfss://bucket/key', 'AZ://bucket/key'])('%s is refused in words', async (address) => {
    expect(await codeOf(openInput(address))).toBe('usage/option')
  })

  test('a pipe is read to its end', async () => {
    execFileSync('mkfifo', [at('pipe')])
    const writer = spawn('sh', ['-c', `printf abcdef > ${at('pipe')}`])
    const source = await openInput(at('pipe'))
    expect(Buffer.from(await source.read(2, 3)).toString()).toBe('cde')
    await source.close()
    writer.kill()
  })

  test('a device is refused: it may have no end', async () => {
    expect(await codeOf(openInput('/dev/zero'))).toBe('io/not-a-file')
  })

  test('what is not there is not found', async () => {
    expect(await codeOf(openInput(at('none')))).toBe('io/not-found')
  })
})

describe('findModel', () => {
  test('names the models when there are several', async () => {
    for (const name of ['one.aa', 'two.bb']) writeFileSync(at(name), '')
    const failure = await findModel(at(), formats).catch((error) => error)
    expect(failure.code).toBe('io/ambiguous-directory')
    expect(failure.message).toContain('one.aa, two.bb')
  })

  test('formats that agree on a file are not several models', async () => {
    writeFileSync(at('one.aa'), '')
    expect((await findModel(at(), [...formats, byExtension('.aa')])).path).toBe(at('one.aa'))
  })

  test('takes the first form of a model that is published in several, and says so', async () => {
    for (const name of ['model.bb', 'model.aa']) writeFileSync(at(name), '')
    const findings: Finding[] = []
    const forms = [
      { ...byExtension('.bb'), published: ['model.bb'] },
      { ...byExtension('.aa'), published: ['model.aa'] },
    ]
    const { path } = await findModel(at(), forms, (finding) => findings.push(finding))
    expect(path).toBe(at('model.bb'))
    expect(findings).toMatchObject([{ code: 'open/several-forms', severity: 'warning' }])
    expect(findings[0]!.message).toContain('model.aa')
    // Another name may be another model.
    writeFileSync(at('model.bb.cc'), '')
    expect(await codeOf(findModel(at(), [...forms, byExtension('.cc')]))).toBe('io/ambiguous-directory')
  })

  test('several files of one format without a main one are not nothing', async () => {
    for (const name of ['a.aa', 'b.aa']) writeFileSync(at(name), '')
    const failure = await findModel(at(), [{ extensions: ['.aa'], mainFile: () => undefined }]).catch((error) => error)
    expect([failure.code, failure.message]).toEqual(['io/ambiguous-directory', expect.stringContaining('a.aa, b.aa')])
  })

  test('says so when there is none', async () => {
    mkdirSync(at('sub.aa'))
    expect(await codeOf(findModel(at(), formats))).toBe('io/empty-directory')
  })
})

describe('spool', () => {
  async function* pieces(count: number, size: number): AsyncGenerator<Uint8Array> {
    for (let i = 0; i < count; i++) yield new Uint8Array(size).fill(i)
  }

  test('keeps a little in memory', async () => {
    const source = await spool(pieces(3, 10), '-', { directory: at() })
    expect(await source.read(8, 4)).toEqual(Uint8Array.from([0, 0, 1, 1]))
    expect(readdirSync(at())).toEqual([])
    expect(source.name).toBe('-')
  })

  test('keeps more in a file without a name', async () => {
    const source = await spool(pieces(50, 50_000), '-', { directory: at(), memory: 70_000 })
    expect(source.size).toBe(2_500_000)
    expect(await source.read(49_999, 2)).toEqual(Uint8Array.from([0, 1]))
    expect(await source.read(2_499_999, 1)).toEqual(Uint8Array.from([49]))
    expect(readdirSync(at())).toEqual([])
    expect(source.sibling).toBeUndefined()
    await source.close()
  })

  test('an empty stream is an empty source', async () => {
    expect((await spool(Readable.from([]), '-')).size).toBe(0)
  })

  test('a stream that breaks leaves nothing behind', async () => {
    async function* broken(): AsyncGenerator<Uint8Array> {
      yield new Uint8Array(100_000)
      throw Object.assign(new Error('read failed'), { code: 'EIO' })
    }
    expect(await codeOf(spool(broken(), '-', { directory: at(), memory: 1000 }))).toBe('io/failed')
    expect(readdirSync(at())).toEqual([])
  })
})
