// An input that somebody writes to while it is read: what was found out belongs to no state of it.
import { copyFileSync, utimesSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { FileSource } from '../../src/node/files/file-source.js'
import { useTempDir } from '../node/temp-dir.js'
import { fixturesRoot } from '../support/fixtures.js'
import { runCli } from './run-cli.js'

const at = useTempDir()
const sample = join(fixturesRoot, 'safetensors', 'dtypes-common.safetensors')

/** From the first read on, the file has another time than when it was opened. */
function changeWhileRead(file: string): void {
  const original = FileSource.prototype.read
  vi.spyOn(FileSource.prototype, 'read').mockImplementation(async function (this: FileSource, ...args) {
    const bytes = await original.apply(this, args)
    utimesSync(file, 1, 1)
    return bytes
  })
}

afterEach(() => vi.restoreAllMocks())

describe('an input that changes while it is read', () => {
  test.each([['hash'], ['stats'], ['show'], ['inspect', '--stats'], ['diff', sample]])(
    'gives no answer to %s',
    async (verb, ...more) => {
      const file = at('m.safetensors')
      copyFileSync(sample, file)
      expect((await runCli(verb, '--json', file, ...more)).status).toBe(0)
      changeWhileRead(file)
      const { status, stdout } = await runCli(verb, '--json', file, ...more)
      expect(status).toBe(2)
      expect(JSON.parse(stdout)).toMatchObject({ file, format: 'safetensors', error: { code: 'io/changed' } })
    },
  )

  test('is not what verify can be sure of', async () => {
    const file = at('m.safetensors')
    copyFileSync(sample, file)
    expect((await runCli('verify', file)).status).toBe(0)
    changeWhileRead(file)
    const { status, stdout } = await runCli('verify', '--json', file)
    expect(status).toBe(2)
    expect(JSON.parse(stdout)).toMatchObject({ verdict: 'errors', findings: [{}, { code: 'io/changed', file }] })
  })
})
