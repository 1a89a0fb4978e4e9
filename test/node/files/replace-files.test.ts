// A set of files is replaced as a whole or not at all, wherever the work stops.

// A set of files is replaced as a whole or not at all, wherever the work stops.
import fs, { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { describe, expect, test } from 'vitest'
import { FileSink } from '../../../src/node/files/file-sink.js'
import { FileSource } from '../../../src/node/files/file-source.js'
import { recoverSets, tidyDirectory } from '../../../src/node/files/replace-files.js'
import { tempNameFor } from '../../../src/node/files/temp-files.js'
import { openInput } from '../../../src/node/input.js'
import { stopAtCall } from '../stop-at-call.js'
import { useTempDir } from '../temp-dir.js'

const at = useTempDir()
const names = ['main', 'one', 'two']
const contents = (): string[] => names.map((name) => (existsSync(at(name)) ? readFileSync(at(name), 'utf8') : 'none'))
const hidden = (): string[] => readdirSync(at()).filter((name) => name.startsWith('.'))

async function writeSet(text: string): Promise<void> {
  const main = await FileSink.open(at('main'))
  try {
    for (const name of names.slice(1)) {
      const sink = await main.sibling(name)
      await sink.write(new TextEncoder().encode(text))
      await sink.close()
    }
    await main.write(new TextEncoder().encode(text))
    await main.close()
  } catch (error) {
    await main.abort()
    throw error
  }
}

function writeOld(): void {
  for (const name of readdirSync(at())) rmSync(at(name), { recursive: true })
  for (const name of names) writeFileSync(at(name), 'old')
}

describe('a set that replaces an older one', () => {
  test('is the old one or the new one, wherever the process is killed', async () => {
    let stopped = true
    const seen = new Set<string>()
    for (let call = 1; stopped; call++) {
      writeOld()
      stopped = await stopAtCall(call, () => writeSet('new'))
      const source = await FileSource.open(at('main'))
      await source.close()
      const found = contents()
      expect(new Set(found).size, `${found} after ${call} calls`).toBe(1)
      expect(['old', 'new']).toContain(found[0])
      seen.add(found[0]!)
    }
    expect(seen).toEqual(new Set(['old', 'new']))
  })

  test('is found from its directory, too', async () => {
    let wasAside = false
    for (let call = 1, stopped = true; stopped; call++) {
      writeOld()
      stopped = await stopAtCall(call, () => writeSet('new'))
      wasAside ||= !existsSync(at('main'))
      const source = await openInput(at(), {
        formats: [{ mainFile: (files) => files.find((name) => name === 'main') }],
      })
      await source.close()
      expect(new Set(contents()).size).toBe(1)
    }
    expect(wasAside).toBe(true)
  })

  test('is the old one when a rename fails, and leaves nothing behind', async () => {
    const { renameSync } = fs
    for (let failing = 1; failing <= 7; failing++) {
      writeOld()
      let calls = 0
      const refuse = (from: string, to: string): void => {
        if (++calls === failing) throw Object.assign(new Error('no'), { code: 'EPERM' })
        renameSync(from, to)
      }
      Object.assign(fs, { renameSync: refuse })
      syncBuiltinESMExports()
      try {
        await expect(writeSet('new')).rejects.toMatchObject({ code: 'io/denied' })
      } finally {
        Object.assign(fs, { renameSync })
        syncBuiltinESMExports()
      }
      expect(contents()).toEqual(['old', 'old', 'old'])
      expect(hidden()).toEqual([])
    }
  })

  test('leaves nothing behind when it is complete', async () => {
    writeOld()
    await writeSet('new')
    expect(contents()).toEqual(['new', 'new', 'new'])
    expect(hidden()).toEqual([])
  })

  test('does not take a directory for a file', async () => {
    writeOld()
    const main = await FileSink.open(at('main'))
    const one = await main.sibling('one')
    await one.close()
    rmSync(at('one'))
    mkdirSync(at('one'))
    await expect(main.close()).rejects.toMatchObject({ code: 'io/not-a-file' })
    await main.abort()
    expect(readdirSync(at('one'))).toEqual([])
    expect(readFileSync(at('main'), 'utf8')).toBe('old')
    expect(hidden()).toEqual([])
  })
})

describe('a journal', () => {
  test('that tare did not write is refused, and says what to do', async () => {
    writeFileSync(at('.main.tare-set'), '{"journal":"tare set 1","files":[{"temp":1}]}')
    await expect(FileSource.open(at('main'))).rejects.toMatchObject({ code: 'io/interrupted' })
  })

  test('of a process that is still at work is left alone', () => {
    const files = [{ temp: '.t', target: 'main', aside: '.a' }]
    const stopped = { journal: 'tare set 1', process: 1, machine: machine(), files }
    writeFileSync(at('.main.tare-set'), JSON.stringify(stopped))
    expect(() => recoverSets(at())).toThrow(expect.objectContaining({ code: 'io/busy' }))
  })

  test('whose files are gone says so', () => {
    const files = [{ temp: '.t', target: 'main', aside: '.a' }]
    writeFileSync(at('.main.tare-set'), JSON.stringify({ journal: 'tare set 1', process: 0, machine: '', files }))
    expect(() => recoverSets(at())).toThrow(expect.objectContaining({ code: 'io/interrupted' }))
  })
})

/** The tag that this machine puts into names. */
function machine(): string {
  const [, tag] = /-([0-9a-f]{8})-/.exec(tempNameFor('x'))!
  return tag!
}

test('what killed runs have left is removed by the next one, what running processes need is not', () => {
  const leftovers = [`.a.999999999-${machine()}-00000000.tare-tmp`, `.a.999999999-${machine()}-00000001.tare-old`]
  const kept = [
    `.a.${process.pid}-${machine()}-00000000.tare-tmp`,
    '.a.999999999-ffffffff-00000000.tare-tmp',
    'a.tare-tmp',
  ]
  for (const name of [...leftovers, ...kept]) writeFileSync(at(name), '')
  tidyDirectory(at())
  expect(readdirSync(at()).sort()).toEqual(kept.toSorted())
})
