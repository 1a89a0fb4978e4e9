import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { editJournalFor, FileSource, patchFile, recoverEdit } from '../../../src/node/index.js'
import { useBundled } from '../bundled.js'
import { stopAtCall } from '../stop-at-call.js'
import { useTempDir } from '../temp-dir.js'

const bundled = useBundled({
  'file-source': 'src/node/files/file-source.ts',
  'patch-file': 'src/node/files/patch-file.ts',
  'stop-at-call': 'test/node/stop-at-call.ts',
})
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

/** Looks at a file whose change was interrupted, and puts it back: it is the old or the new one. */
async function inspect(path: string, size: number, place: string): Promise<string> {
  const isMixed = !same(path, old) && !same(path, changed(size))
  // What is neither is not handed out to a reader.
  if (isMixed) await expect(FileSource.open(path)).rejects.toMatchObject({ code: 'edit/interrupted' })
  const recovered = await recoverEdit(path)
  expect(same(path, old) || same(path, changed(size)), place).toBe(true)
  if (recovered) expect(same(path, old)).toBe(true)
  expect(existsSync(editJournalFor(path))).toBe(false)
  await (await FileSource.open(path)).close()
  return isMixed ? 'mixed' : recovered ? 'recovered' : same(path, old) ? 'old' : 'new'
}

test.each([25_000, 30_000, 50_000])(
  'stopped at any call, the file is the old or the new one (%i bytes)',
  async (size) => {
    const seen = new Set<string>()
    for (let call = 1; ; call++) {
      const path = at(`${call}`)
      writeFileSync(path, old)
      const source = await FileSource.open(path)
      const wasStopped = await stopAtCall(call, () => patchFile(source, patchTo(size), { clone: false }))
      await source.close()
      seen.add(await inspect(path, size, `call ${call}`))
      if (!wasStopped) break
    }
    expect([...seen].sort()).toEqual(['mixed', 'new', 'old', 'recovered'])
  },
)

/** Changes a file in a process that is killed at the nth call to the file system; a write is cut in half. False: it came to its end. */
async function killAt(call: number, path: string, size: number): Promise<boolean> {
  const script = `
    import { stopAtCall } from ${JSON.stringify(bundled('stop-at-call'))}
    import { FileSource } from ${JSON.stringify(bundled('file-source'))}
    import { patchFile } from ${JSON.stringify(bundled('patch-file'))}
    const source = await FileSource.open(${JSON.stringify(path)})
    const size = ${size}
    const patches = ${JSON.stringify(patchTo(size).patches.map(({ offset, bytes }) => [offset, bytes.byteLength, bytes[0]]))}
      .map(([offset, length, value]) => ({ offset, bytes: new Uint8Array(length).fill(value) }))
    const kill = () => process.kill(process.pid, 'SIGKILL')
    await stopAtCall(${call}, () => patchFile(source, { patches, size }, { clone: false }), kill)`
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const [status, signal] = await once(child, 'exit')
  expect(status === 0 || signal === 'SIGKILL').toBe(true)
  return signal === 'SIGKILL'
}

// The calls between which a kill makes a difference: in the journal, behind it, in the middle of the patches, before the journal goes.
test('killed, the file is the old or the new one', async () => {
  const size = 50_000
  const seen = await Promise.all(
    [2, 5, 9, 10, 12, 14, 40].map(async (call) => {
      mkdirSync(at(`${call}`))
      const path = at(`${call}`, 'm')
      writeFileSync(path, old)
      expect(await killAt(call, path, size)).toBe(call !== 40)
      return inspect(path, size, `call ${call}`)
    }),
  )
  expect(new Set(seen)).toEqual(new Set(['mixed', 'new', 'old', 'recovered']))
})

test('a journal is not used on a file that is another one, nor while its process lives', async () => {
  writeFileSync(at('m'), old)
  expect(await killAt(7, at('m'), 30_000)).toBe(true)
  const journal = readFileSync(editJournalFor(at('m')))
  writeFileSync(at('m'), new Uint8Array(30_000).fill(77))
  await expect(recoverEdit(at('m'))).rejects.toMatchObject({ code: 'edit/journal' })
  expect(same(at('m'), new Uint8Array(30_000).fill(77))).toBe(true)
  writeFileSync(at('m'), old)
  const alive = journal.toString('latin1').replace(/"process":\d+/, `"process":${process.ppid}`)
  writeFileSync(editJournalFor(at('m')), alive, 'latin1')
  await expect(recoverEdit(at('m'))).rejects.toMatchObject({ code: 'edit/busy' })
  const hourAgo = Date.now() / 1000 - 3600
  utimesSync(editJournalFor(at('m')), hourAgo, hourAgo)
  expect(await recoverEdit(at('m'))).toBe(true)
  writeFileSync(editJournalFor(at('m')), 'no journal')
  await expect(recoverEdit(at('m'))).rejects.toMatchObject({ code: 'edit/journal' })
})
