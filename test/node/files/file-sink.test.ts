import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { FileSink } from '../../../src/node/files/file-sink.js'
import { tempNameFor } from '../../../src/node/files/temp-files.js'
import { removeOpenTemps } from '../../../src/node/unfinished.js'
import { useTempDir } from '../temp-dir.js'

const at = useTempDir()
const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)
const codeOf = async (promise: Promise<unknown>): Promise<string> =>
  promise.then(
    () => 'no error',
    (error) => error.code,
  )

describe('one file', () => {
  test('is not there before it is closed, and whole afterwards', async () => {
    const sink = await FileSink.open(at('out'))
    await sink.write(bytesOf('hello '))
    await sink.write(bytesOf('world'))
    expect(sink.position).toBe(11)
    expect(existsSync(at('out'))).toBe(false)
    expect(readdirSync(at())).toEqual([expect.stringMatching(/^\.out\.\d+-[0-9a-f]{8}-[0-9a-f]{8}\.tare-tmp$/)])
    await sink.close()
    expect(readdirSync(at())).toEqual(['out'])
    expect(readFileSync(at('out'), 'utf8')).toBe('hello world')
  })

  test('replaces an old one only at the end, and keeps its permissions', async () => {
    writeFileSync(at('out'), 'old', { mode: 0o640 })
    const sink = await FileSink.open(at('out'))
    await sink.write(bytesOf('new'))
    expect(readFileSync(at('out'), 'utf8')).toBe('old')
    await sink.close()
    expect(readFileSync(at('out'), 'utf8')).toBe('new')
    expect(statSync(at('out')).mode % 0o1000).toBe(0o640)
  })

  test('a new one has the permissions that the umask leaves', async () => {
    const before = process.umask(0o027)
    try {
      const sink = await FileSink.open(at('out'))
      await sink.close()
      expect(statSync(at('out')).mode % 0o1000).toBe(0o640)
    } finally {
      process.umask(before)
    }
  })

  test('abort leaves the old file and nothing else, and may be repeated', async () => {
    writeFileSync(at('out'), 'old')
    const sink = await FileSink.open(at('out'))
    await sink.write(new Uint8Array(3_000_000))
    await sink.abort()
    await sink.abort()
    expect(readdirSync(at())).toEqual(['out'])
    expect(readFileSync(at('out'), 'utf8')).toBe('old')
    expect(await codeOf(sink.write(bytesOf('x')))).toBe('io/aborted')
    expect(await codeOf(sink.close())).toBe('io/aborted')
  })

  test('abort after close changes nothing', async () => {
    const sink = await FileSink.open(at('out'))
    await sink.write(bytesOf('x'))
    await sink.close()
    await sink.abort()
    expect(readFileSync(at('out'), 'utf8')).toBe('x')
  })

  test('the memory of a write can be used again at once', async () => {
    const sink = await FileSink.open(at('out'))
    const chunk = new Uint8Array(700_000)
    for (let i = 0; i < 5; i++) {
      chunk.fill(i)
      await sink.write(chunk)
    }
    chunk.fill(255)
    await sink.close()
    const written = readFileSync(at('out'))
    expect(written.byteLength).toBe(3_500_000)
    for (let i = 0; i < 5; i++)
      expect(written.subarray(i * 700_000, (i + 1) * 700_000).every((byte) => byte === i)).toBe(true)
  })

  test('writes and patches of any sizes end up in their places', async () => {
    const run = fc.asyncProperty(
      fc.array(fc.oneof(fc.nat(300), fc.integer({ min: 1_048_000, max: 1_049_000 }), fc.constant(1 << 20)), {
        maxLength: 6,
      }),
      fc.array(fc.record({ place: fc.double({ min: 0, max: 1, noNaN: true }), length: fc.nat(40) }), { maxLength: 4 }),
      async (sizes, patches) => {
        const sink = await FileSink.open(at('out'))
        const total = sizes.reduce((sum, size) => sum + size, 0)
        const expected = new Uint8Array(total)
        let offset = 0
        const patchSome = async (seed: number): Promise<void> => {
          for (const { place, length } of patches) {
            const size = Math.min(length, offset)
            const start = Math.floor(place * (offset - size))
            const patch = new Uint8Array(size).fill(200 + seed)
            expected.set(patch, start)
            await sink.patch(start, patch)
          }
        }
        for (const [index, size] of sizes.entries()) {
          const chunk = new Uint8Array(size).fill(index + 1)
          expected.set(chunk, offset)
          await sink.write(chunk)
          offset += size
          if (index % 2 === 1) await patchSome(index)
        }
        await patchSome(sizes.length)
        expect(sink.position).toBe(total)
        await sink.close()
        expect(Buffer.compare(readFileSync(at('out')), expected)).toBe(0)
      },
    )
    await fc.assert(run, { numRuns: 15 })
  })

  test('a patch beyond what was written is refused', async () => {
    const sink = await FileSink.open(at('out'))
    await sink.write(bytesOf('abc'))
    expect(await codeOf(sink.patch(2, bytesOf('xy')))).toBe('io/out-of-range')
    await sink.abort()
  })

  test('what cannot be an output is said before anything is written', async () => {
    mkdirSync(at('dir'))
    expect(await codeOf(FileSink.open(at('dir')))).toBe('io/not-a-file')
    expect(await codeOf(FileSink.open(at('none', 'out')))).toBe('io/not-found')
    writeFileSync(at('old'), 'old')
    expect(await codeOf(FileSink.open(at('old'), { overwrite: false }))).toBe('io/exists')
    expect(readdirSync(at()).sort()).toEqual(['dir', 'old'])
  })

  test('a link stays a link, and the file behind it is replaced', async () => {
    mkdirSync(at('store'))
    writeFileSync(at('store', 'real'), 'old')
    symlinkSync('store/real', at('link'))
    const sink = await FileSink.open(at('link'))
    await sink.write(bytesOf('new'))
    await sink.close()
    expect(readlinkSync(at('link'))).toBe('store/real')
    expect(readFileSync(at('store', 'real'), 'utf8')).toBe('new')
    expect(readdirSync(at('store'))).toEqual(['real'])
  })

  test('a link stays a link where nothing is behind it yet', async () => {
    mkdirSync(at('store'))
    symlinkSync('store/next', at('link'))
    symlinkSync('real', at('store/next'))
    const sink = await FileSink.open(at('link'))
    await sink.write(bytesOf('new'))
    await sink.close()
    expect(readlinkSync(at('link'))).toBe('store/next')
    expect(readFileSync(at('store/real'), 'utf8')).toBe('new')
    expect(readdirSync(at('store')).sort()).toEqual(['next', 'real'])
  })

  test('links that lead nowhere or in a circle are not replaced', async () => {
    symlinkSync('nowhere/file', at('lost'))
    symlinkSync('ring', at('ring'))
    expect(await codeOf(FileSink.open(at('lost')))).toBe('io/not-found')
    expect(await codeOf(FileSink.open(at('ring')))).toBe('io/failed')
    expect(readdirSync(at()).sort()).toEqual(['lost', 'ring'])
  })

  test('another hard link of the old file keeps the old bytes', async () => {
    writeFileSync(at('out'), 'old')
    linkSync(at('out'), at('copy'))
    const sink = await FileSink.open(at('out'))
    await sink.write(bytesOf('new'))
    await sink.close()
    expect(readFileSync(at('copy'), 'utf8')).toBe('old')
  })

  test('a refusal before the commit undoes everything', async () => {
    const sink = await FileSink.open(at('out'), {
      beforeCommit: async () => {
        throw new Error('the input changed')
      },
    })
    await sink.write(bytesOf('x'))
    await expect(sink.close()).rejects.toThrow('the input changed')
    await sink.abort()
    expect(readdirSync(at())).toEqual([])
  })
})

describe('several files', () => {
  test('appear together', async () => {
    const main = await FileSink.open(at('main'))
    const first = await main.sibling('first')
    await first.write(bytesOf('1'))
    await first.close()
    expect(existsSync(at('first'))).toBe(false)
    const second = await main.sibling('second')
    await second.write(bytesOf('2')) // left open: the main file completes it
    await main.write(bytesOf('m'))
    await main.close()
    expect(readdirSync(at()).sort()).toEqual(['first', 'main', 'second'])
    expect(['main', 'first', 'second'].map((name) => readFileSync(at(name), 'utf8'))).toEqual(['m', '1', '2'])
  })

  test('or not at all', async () => {
    writeFileSync(at('first'), 'old')
    const main = await FileSink.open(at('main'))
    const first = await main.sibling('first')
    await first.write(bytesOf('1'))
    await first.close()
    await main.sibling('second')
    await main.abort()
    expect(readdirSync(at())).toEqual(['first'])
    expect(readFileSync(at('first'), 'utf8')).toBe('old')
  })

  test('a rename that fails takes back what had appeared', async () => {
    const main = await FileSink.open(at('main'))
    const first = await main.sibling('first')
    await first.close()
    mkdirSync(at('main')) // somebody puts a directory in the way
    const failure = await main.close().catch((error) => error)
    await main.abort()
    expect(failure.code).toMatch(/^io\//)
    expect(failure.finding.file).toBe(at('main'))
    expect(readdirSync(at())).toEqual(['main'])
  })

  test('names that lead elsewhere or come twice are refused', async () => {
    const main = await FileSink.open(at('main'))
    expect(await codeOf(main.sibling('../x'))).toBe('io/unsafe-path')
    expect(await codeOf(main.sibling('main'))).toBe('io/exists')
    await main.sibling('a')
    expect(await codeOf(main.sibling('a'))).toBe('io/exists')
    await main.abort()
    expect(readdirSync(at())).toEqual([])
  })
})

describe('files in folders below', () => {
  test('wait beside the main file, and their folder is made when they appear', async () => {
    const main = await FileSink.open(at('main'))
    const below = await main.sibling('folder/file')
    await below.write(bytesOf('b'))
    expect(existsSync(at('folder'))).toBe(false)
    await main.close()
    expect(readdirSync(at()).sort()).toEqual(['folder', 'main'])
    expect(readFileSync(at('folder', 'file'), 'utf8')).toBe('b')
  })

  test('leave no folder behind when they do not appear', async () => {
    const aborted = await FileSink.open(at('main'))
    await aborted.sibling('folder/file')
    await aborted.abort()
    const main = await FileSink.open(at('main'))
    await main.sibling('folder/file')
    mkdirSync(at('main')) // somebody puts a directory in the way
    expect(await codeOf(main.close())).toMatch(/^io\//)
    expect(readdirSync(at())).toEqual(['main'])
  })

  test('do not lead elsewhere', async () => {
    const main = await FileSink.open(at('main'))
    for (const name of ['folder/../../x', '/x', 'folder//x', 'folder/'])
      expect(await codeOf(main.sibling(name)), name).toBe('io/unsafe-path')
    await main.abort()
  })
})

describe('temporary names', () => {
  test('are removed at once when the process must end', async () => {
    const main = await FileSink.open(at('main'))
    await main.sibling('other')
    await main.write(bytesOf('x'))
    expect(readdirSync(at())).toHaveLength(2)
    removeOpenTemps()
    expect(readdirSync(at())).toEqual([])
    await main.abort()
  })

  test('fit into a file system however long the target is', async () => {
    const name = 'ü'.repeat(126) // 252 bytes
    expect(Buffer.byteLength(tempNameFor(name))).toBeLessThan(255)
    const sink = await FileSink.open(at(name))
    await sink.close()
    expect(readdirSync(at())).toEqual([name])
  })
})

test.skipIf(!existsSync('/dev/null'))('what speaks against an output is told at the end of a stream, too', async () => {
  const { openOutput } = await import('../../../src/node/output.js')
  const beforeCommit = (): Promise<void> => Promise.reject(Object.assign(new Error('no'), { code: 'x/y' }))
  const sink = await openOutput('/dev/null', { beforeCommit })
  await sink.write(bytesOf('x'))
  expect(await codeOf(sink.close())).toBe('x/y')
  await sink.abort()
})

test.skipIf(!existsSync('/dev/full'))('a full disk is called by its name', async () => {
  const { openOutput } = await import('../../../src/node/output.js')
  const sink = await openOutput('/dev/full')
  expect(await codeOf(sink.write(bytesOf('x')))).toBe('io/no-space')
  await sink.abort()
})
