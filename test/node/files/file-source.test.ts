import { execFileSync } from 'node:child_process'
import { appendFileSync, chmodSync, mkdirSync, symlinkSync, truncateSync, utimesSync, writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { streamRange } from '../../../src/bytes/index.js'
import { FileSource } from '../../../src/node/files/file-source.js'
import { useTempDir } from '../temp-dir.js'

const at = useTempDir()
const pattern = (length: number): Uint8Array => Uint8Array.from({ length }, (_, i) => (i * 31 + (i >>> 8)) % 256)
const codeOf = async (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'no error',
    (error) => error.code,
  )

describe('reading', () => {
  test('gives exactly the bytes of a range, small and large', async () => {
    const bytes = pattern(300_000)
    writeFileSync(at('a.bin'), bytes)
    const source = await FileSource.open(at('a.bin'))
    expect(source.size).toBe(300_000)
    expect(await source.read(0, 0)).toEqual(new Uint8Array(0))
    expect(await source.read(17, 5)).toEqual(bytes.slice(17, 22))
    expect(Buffer.compare(await source.read(1, 299_999), bytes.slice(1))).toBe(0)
    const target = new Uint8Array(100_000)
    await source.readInto(50_000, target)
    expect(Buffer.compare(target, bytes.slice(50_000, 150_000))).toBe(0)
    await source.close()
  })

  test('large results start on a cache line, which the system copies to fastest', async () => {
    writeFileSync(at('a.bin'), pattern(200_000))
    const source = await FileSource.open(at('a.bin'))
    expect((await source.read(0, 200_000)).byteOffset).toBe(48)
    await source.close()
  })

  test('streams through windows', async () => {
    const bytes = pattern(200_001)
    writeFileSync(at('a.bin'), bytes)
    const source = await FileSource.open(at('a.bin'))
    const parts: Uint8Array[] = []
    for await (const chunk of streamRange({ source, offset: 1, length: 200_000 }, 65_536)) parts.push(chunk.slice())
    expect(parts.map((part) => part.byteLength)).toEqual([65_536, 65_536, 65_536, 3392])
    expect(Buffer.compare(Buffer.concat(parts), bytes.slice(1))).toBe(0)
    await source.close()
  })

  test('refuses what lies outside the file', async () => {
    writeFileSync(at('a.bin'), pattern(10))
    const source = await FileSource.open(at('a.bin'))
    expect(await codeOf(source.read(8, 3))).toBe('io/out-of-range')
    expect(await codeOf(source.readInto(-1, new Uint8Array(1)))).toBe('io/out-of-range')
    await source.close()
  })

  test.each([10, 200_000])('a file of %i bytes that was cut is a short read, never zeros', async (length) => {
    writeFileSync(at('a.bin'), pattern(length))
    const source = await FileSource.open(at('a.bin'))
    truncateSync(at('a.bin'), length / 2)
    const failure = await source.read(0, length).catch((error) => error)
    expect(failure.code).toBe('io/short-read')
    expect(failure.message).toContain(`ends after ${length / 2}`)
    expect(await codeOf(source.readInto(0, new Uint8Array(length)))).toBe('io/short-read')
    await source.close()
  })

  test('a cancelled read stops', async () => {
    writeFileSync(at('a.bin'), pattern(10))
    const source = await FileSource.open(at('a.bin'))
    expect(await codeOf(source.read(0, 5, { signal: AbortSignal.abort() }))).toBe('io/aborted')
    await source.close()
  })

  test('a closed source cannot be read, and can be closed again', async () => {
    writeFileSync(at('a.bin'), pattern(10))
    const source = await FileSource.open(at('a.bin'))
    await source.close()
    await source.close()
    expect(await codeOf(source.read(0, 5))).toBe('io/failed')
  })
})

describe('opening', () => {
  test('says what is wrong and with which path', async () => {
    const failure = await FileSource.open(at('none.bin')).catch((error) => error)
    expect(failure.code).toBe('io/not-found')
    expect(failure.finding.file).toBe(at('none.bin'))
    mkdirSync(at('dir'))
    expect(await codeOf(FileSource.open(at('dir')))).toBe('io/not-a-file')
    writeFileSync(at('file'), '')
    expect(await codeOf(FileSource.open(at('file', 'below')))).toBe('io/not-found')
  })

  test('a pipe without a writer is refused at once', async () => {
    execFileSync('mkfifo', [at('pipe')])
    expect(await codeOf(FileSource.open(at('pipe')))).toBe('io/not-a-file')
  })

  test.skipIf(process.getuid?.() === 0)('a file without permission is denied', async () => {
    writeFileSync(at('secret'), 'x')
    chmodSync(at('secret'), 0)
    expect(await codeOf(FileSource.open(at('secret')))).toBe('io/denied')
  })
})

describe('siblings', () => {
  test('are files in the same directory, opened once and closed together', async () => {
    writeFileSync(at('main'), 'main')
    writeFileSync(at('shard'), 'shard')
    const main = await FileSource.open(at('main'))
    const shard = await main.sibling('shard')
    expect(Buffer.from(await shard.read(0, 5)).toString()).toBe('shard')
    expect(await main.sibling('shard')).toBe(shard)
    expect(await main.openPaths()).toEqual([at('main'), at('shard')])
    await main.close()
    expect(await codeOf(shard.read(0, 5))).toBe('io/failed')
  })

  test('a missing one is reported, and can appear later', async () => {
    writeFileSync(at('main'), 'main')
    const main = await FileSource.open(at('main'))
    expect(await codeOf(main.sibling('late'))).toBe('io/not-found')
    writeFileSync(at('late'), 'late')
    expect((await main.sibling('late')).size).toBe(4)
    await main.close()
  })

  test.each(['../main', '/etc/passwd', 'a/b', '..', 'a\\b', 'x\u0000y'])(
    'the name %j leads elsewhere',
    async (name) => {
      writeFileSync(at('main'), 'main')
      const main = await FileSource.open(at('main'))
      expect(await codeOf(main.sibling(name))).toBe('io/unsafe-path')
      await main.close()
    },
  )

  test('a link out of the directory is not followed, a link inside it is', async () => {
    mkdirSync(at('model'))
    writeFileSync(at('secret'), 'secret')
    writeFileSync(at('model', 'main'), 'main')
    writeFileSync(at('model', 'real'), 'real')
    symlinkSync('../secret', at('model', 'leak'))
    symlinkSync('real', at('model', 'inside'))
    const main = await FileSource.open(at('model', 'main'))
    expect(await codeOf(main.sibling('leak'))).toBe('io/unsafe-path')
    expect((await main.sibling('inside')).size).toBe(4)
    await main.close()
  })

  test('a download cache, where every file is a link into one store, works', async () => {
    mkdirSync(at('blobs'))
    mkdirSync(at('snapshot'))
    for (const name of ['main', 'shard']) {
      writeFileSync(at('blobs', `${name}-hash`), name)
      symlinkSync(`../blobs/${name}-hash`, at('snapshot', name))
    }
    const main = await FileSource.open(at('snapshot', 'main'))
    expect((await main.sibling('shard')).size).toBe(5)
    await main.close()
  })
})

describe('assertUnchanged', () => {
  test('is content with a file that nobody touched', async () => {
    writeFileSync(at('a'), 'a')
    const source = await FileSource.open(at('a'))
    await source.assertUnchanged()
    await source.close()
  })

  test('notices growth, and a change of the same length', async () => {
    writeFileSync(at('a'), 'a')
    const source = await FileSource.open(at('a'))
    utimesSync(at('a'), new Date(), new Date(Date.now() + 5000))
    expect(await codeOf(source.assertUnchanged())).toBe('io/changed')
    appendFileSync(at('a'), 'b')
    await expect(source.assertUnchanged()).rejects.toThrow('it had 1 bytes and now has 2')
    await source.close()
  })

  test('opens a sibling again that was closed', async () => {
    writeFileSync(at('main'), pattern(4))
    writeFileSync(at('shard'), pattern(8))
    const main = await FileSource.open(at('main'))
    const first = await main.sibling('shard')
    await first.close()
    const again = await main.sibling('shard')
    expect(again).not.toBe(first)
    expect(await again.read(0, 8)).toEqual(pattern(8))
    await again.close()
    await main.assertUnchanged()
    await main.close()
  })

  test('notices a change of a sibling', async () => {
    writeFileSync(at('main'), 'main')
    writeFileSync(at('shard'), 'shard')
    const main = await FileSource.open(at('main'))
    await main.sibling('shard')
    appendFileSync(at('shard'), 'more')
    await expect(main.assertUnchanged()).rejects.toThrow('shard')
    await main.close()
  })
})
