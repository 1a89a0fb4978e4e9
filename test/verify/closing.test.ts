import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { MemorySource } from '../../src/bytes/index.js'
import { verifySource } from '../../src/kit.js'
import { fixturesRoot } from '../support/fixtures.js'

class Watched extends MemorySource {
  closed = 0
  override async close(): Promise<void> {
    this.closed++
  }
}

const whole = readFileSync(join(fixturesRoot, 'safetensors', 'dtypes-common.safetensors'))

test.each([
  ['a model', whole],
  ['a model that cannot be read', whole.subarray(0, 30)],
  ['what is not a model', new Uint8Array(100)],
  ['nothing', new Uint8Array(0)],
])('verifying %s closes it', async (_, bytes) => {
  const source = new Watched(bytes, 'm.safetensors')
  await verifySource(source)
  expect(source.closed).toBe(1)
})

test('so does verifying that is cancelled', async () => {
  const source = new Watched(whole, 'm.safetensors')
  await expect(verifySource(source, { signal: AbortSignal.abort() })).rejects.toMatchObject({ code: 'io/aborted' })
  expect(source.closed).toBe(1)
})
