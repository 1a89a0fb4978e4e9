import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { FileSource, journalNameFor, patchFile, recoverEdit } from '../../src/node/index.js'
import { useCompiled } from '../cli/compiled.js'
import { useTempDir } from './temp-dir.js'

const compiled = useCompiled()
const at = useTempDir()

const old = new Uint8Array(30_000).map((_, i) => i % 251)
const patches = [
  { offset: 5, bytes: new Uint8Array(9_000).fill(255) },
  { offset: 20_000, bytes: new Uint8Array(3).fill(254) },
]

function changed(size: number): Uint8Array {
  const bytes = new Uint8Array(size)
  bytes.set(old.subarray(0, size))
  for (const { offset, bytes: patch } of [...patches, ...tail(size)]) bytes.set(patch, offset)
  return bytes
}

const tail = (size: number) =>
  size > old.byteLength ? [{ offset: old.byteLength, bytes: new Uint8Array(size - old.byteLength).fill(253) }] : []

const patchTo = (size: number) => ({ patches: [...patches, ...tail(size)], size })

const same = (path: string, bytes: Uint8Array): boolean => Buffer.compare(readFileSync(path), bytes) === 0

test.each([25_000, 30_000, 50_000])('a file of 30000 bytes gets its patches and %i bytes', async (size) => {
  for (const clone of [true, false]) {
    writeFileSync(at('m'), old, { mode: 0o640 })
    symlinkSync(at('m'), at('link'))
    const source = await FileSource.open(at('link'))
    const how = await patchFile(source, patchTo(size), { clone })
    await source.close()
    expect(clone ? ['cloned', 'patched'] : ['patched']).toContain(how)
    expect(same(at('m'), changed(size))).toBe(true)
    expect(readdirSync(at()).sort()).toEqual(['link', 'm'])
    await import('node:fs/promises').then(({ unlink }) => unlink(at('link')))
  }
})

test('a file that has changed since it was opened is left alone', async () => {
  writeFileSync(at('m'), old)
  const source = await FileSource.open(at('m'))
  writeFileSync(at('m'), 'other')
  await expect(patchFile(source, patchTo(30_000))).rejects.toThrow()
  await source.close()
  expect(readFileSync(at('m'), 'utf8')).toBe('other')
  expect(readdirSync(at())).toEqual(['m'])
})

/** Changes a file in a process that is killed at the nth call to the file system; a write is cut in half. False: it came to its end. */
async function killAt(call: number, path: string, size: number): Promise<boolean> {
  const script = `
    import fs from 'node:fs'
    import { syncBuiltinESMExports } from 'node:module'
    const { FileSource } = await import(${JSON.stringify(pathToFileURL(compiled('node/file-source.js')).href)})
    const { patchFile } = await import(${JSON.stringify(pathToFileURL(compiled('node/patch-file.js')).href)})
    const source = await FileSource.open(${JSON.stringify(path)})
    const size = ${size}
    const patches = ${JSON.stringify(patchTo(size).patches.map(({ offset, bytes }) => [offset, bytes.byteLength, bytes[0]]))}
      .map(([offset, length, value]) => ({ offset, bytes: new Uint8Array(length).fill(value) }))
    let calls = 0
    for (const name of ['openSync', 'writeSync', 'fsyncSync', 'ftruncateSync', 'renameSync', 'unlinkSync']) {
      const real = fs[name]
      fs[name] = (...args) => {
        if (++calls === ${call}) {
          if (name === 'writeSync') real(args[0], args[1], args[2], Math.ceil(args[3] / 2), args[4])
          process.kill(process.pid, 'SIGKILL')
        }
        return real(...args)
      }
    }
    syncBuiltinESMExports()
    await patchFile(source, { patches, size }, { clone: false })`
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const [status, signal] = await once(child, 'exit')
  expect(status === 0 || signal === 'SIGKILL').toBe(true)
  return signal === 'SIGKILL'
}

test.each([25_000, 50_000])(
  'killed at any moment, the file is the old or the new one (%i bytes)',
  async (size) => {
    const calls = Array.from({ length: 24 }, (_, i) => i + 1)
    const seen = new Set<string>()
    for (let i = 0; i < calls.length; i += 6) {
      const killed = await Promise.all(
        calls.slice(i, i + 6).map(async (call) => {
          mkdirSync(at(`${call}`))
          const path = at(`${call}`, 'm')
          writeFileSync(path, old)
          const wasKilled = await killAt(call, path, size)
          const isMixed = !same(path, old) && !same(path, changed(size))
          // What is neither is not handed out to a reader.
          if (isMixed) await expect(FileSource.open(path)).rejects.toMatchObject({ code: 'edit/interrupted' })
          const recovered = await recoverEdit(path)
          expect(same(path, old) || same(path, changed(size)), `call ${call}`).toBe(true)
          if (recovered) expect(same(path, old)).toBe(true)
          expect(existsSync(journalNameFor(path))).toBe(false)
          await (await FileSource.open(path)).close()
          seen.add(isMixed ? 'mixed' : recovered ? 'recovered' : same(path, old) ? 'old' : 'new')
          return wasKilled
        }),
      )
      if (!killed.at(-1)) break
    }
    expect([...seen].sort()).toEqual(expect.arrayContaining(['mixed', 'new', 'old']))
  },
  60_000,
)

test('a journal is not used on a file that is another one, nor while its process lives', async () => {
  writeFileSync(at('m'), old)
  expect(await killAt(7, at('m'), 30_000)).toBe(true)
  const journal = readFileSync(journalNameFor(at('m')))
  writeFileSync(at('m'), new Uint8Array(30_000).fill(77))
  await expect(recoverEdit(at('m'))).rejects.toMatchObject({ code: 'edit/journal' })
  expect(same(at('m'), new Uint8Array(30_000).fill(77))).toBe(true)
  writeFileSync(at('m'), old)
  const alive = journal.toString('latin1').replace(/"process":\d+/, `"process":${process.ppid}`)
  writeFileSync(journalNameFor(at('m')), alive, 'latin1')
  await expect(recoverEdit(at('m'))).rejects.toMatchObject({ code: 'edit/busy' })
  const hourAgo = Date.now() / 1000 - 3600
  utimesSync(journalNameFor(at('m')), hourAgo, hourAgo)
  expect(await recoverEdit(at('m'))).toBe(true)
  writeFileSync(journalNameFor(at('m')), 'no journal')
  await expect(recoverEdit(at('m'))).rejects.toMatchObject({ code: 'edit/journal' })
})
