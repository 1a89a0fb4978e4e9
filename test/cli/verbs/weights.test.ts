// Weight files with a vocabulary through the command: special ids that are given, and files that are repaired.
import { existsSync, writeFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { useTempDir } from '../../node/temp-dir.js'
import { fixtureBytes, fixturePath } from '../../support/fixtures.js'
import { runCli as tare } from '../run-cli.js'

const at = useTempDir()
const tiny = (): string => fixturePath('embd', 'sect-tiny-bert-1layer.weights')
const json = async (...args: string[]) => JSON.parse((await tare(...args, '--json')).stdout)

test('special ids are stored as given', async () => {
  writeFileSync(at('vocab.txt'), 'a\nb\nc\nd\ne\n')
  const ids = 'pad=4,unk=3,cls=2,sep=1,mask=0'
  const args = ['convert', tiny(), '-o', at('x.weights'), '--vocab', at('vocab.txt')]
  expect((await tare(...args, '--special-ids', ids)).status).toBe(0)
  const { parts } = await json('inspect', at('x.weights'))
  const vocabulary = parts.find((part: { kind: string }) => part.kind === 'vocabulary')
  expect(vocabulary.value.special).toEqual({ pad: 4, unk: 3, cls: 2, sep: 1, mask: 0 })
  const { status, stderr } = await tare(...args, '--special-ids', 'pad=9')
  expect([status, stderr]).toEqual([2, expect.stringContaining('--special-ids')])
})

test('repair says what it repaired and what nothing proves any more', async () => {
  const bytes = fixtureBytes('embd', 'sect-tiny-bert-1layer.weights')
  bytes[bytes.byteLength - 20]! += 1
  writeFileSync(at('broken.weights'), bytes)
  expect((await tare('verify', at('broken.weights'))).status).toBe(1)
  const { status, stderr } = await tare('repair', at('broken.weights'), '-o', at('repaired.weights'))
  expect(status).toBe(0)
  expect(stderr).toContain('repaired  footer.data_checksum')
  expect(stderr).toContain('lost      the proof for the weights')
  expect((await tare('verify', at('repaired.weights'))).status).toBe(0)
  const report = await json('repair', fixturePath('embd', 'sect-bad-data-crc.weights'), '-o', at('x.weights'))
  expect(report).toMatchObject({
    format: 'embd',
    lost: [],
    repaired: [expect.stringContaining('data_checksum'), expect.anything()],
  })
  const fine = await tare('repair', tiny(), '-o', at('fine.weights'))
  expect([fine.status, existsSync(at('fine.weights'))]).toEqual([1, false])
})
