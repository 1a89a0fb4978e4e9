import { openAsBlob, rmSync, writeFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { BlobSource } from '../../src/bytes/index.js'
import { useTempDir } from '../node/temp-dir.js'

const at = useTempDir()

it('refuses a file that changed since it was chosen, with a code and an offset', async () => {
  writeFileSync(at('a.bin'), new Uint8Array(1000))
  const source = new BlobSource(await openAsBlob(at('a.bin')), 'a.bin')
  expect((await source.read(10, 20)).byteLength).toBe(20)
  writeFileSync(at('a.bin'), new Uint8Array(2000))
  await expect(source.read(10, 20)).rejects.toMatchObject({
    finding: { code: 'io/changed', file: 'a.bin', offset: 10 },
  })
})

it('refuses one that is gone', async () => {
  writeFileSync(at('b.bin'), new Uint8Array(1000))
  const source = new BlobSource(await openAsBlob(at('b.bin')), 'b.bin')
  rmSync(at('b.bin'))
  await expect(source.read(10, 20)).rejects.toMatchObject({ finding: { file: 'b.bin', offset: 10 } })
})
