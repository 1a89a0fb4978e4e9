// Signing through the command: keys, certificates' absence, receipts, exit status.
import { generateKeyPairSync } from 'node:crypto'
import { appendFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { writeModel } from '../../src/node.js'
import { runCli } from '../cli/run-cli.js'

const scratch = mkdtempSync(join(tmpdir(), 'tare-sign-cli-'))
const at = (name: string): string => join(scratch, name)
afterAll(() => rmSync(scratch, { recursive: true }))

beforeAll(async () => {
  for (const name of ['mine', 'other']) {
    const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    writeFileSync(at(`${name}.pem`), privateKey.export({ type: 'pkcs8', format: 'pem' }))
    writeFileSync(at(`${name}.pub`), publicKey.export({ type: 'spki', format: 'pem' }))
  }
  await writeModel({ tensors: { w: { shape: [4], data: Float32Array.of(1, 2, 3, 4) } } }, at('a.safetensors'))
  mkdirSync(at('dir'))
  writeFileSync(at('dir/notes.txt'), 'not a model')
})

describe('tare sign', () => {
  it('writes a signature that verify accepts, and that finds a change', async () => {
    expect(await runCli('sign', at('dir'), '--key', at('mine.pem'))).toMatchObject({ status: 0 })
    expect(await runCli('verify', at('dir'), '--key', at('mine.pub'))).toMatchObject({ status: 0 })
    expect(await runCli('verify', at('dir'), '--key', at('other.pub'))).toMatchObject({ status: 1 })
    appendFileSync(at('dir/notes.txt'), '!')
    const { status, stdout } = await runCli('verify', '--json', at('dir'), '--key', at('mine.pub'))
    expect(status).toBe(1)
    const { verdict, findings, signature } = JSON.parse(stdout)
    expect({ verdict, codes: findings.map(({ code }: { code: string }) => code) }).toEqual({
      verdict: 'errors',
      codes: ['signature/changed'],
    })
    expect(signature).toMatchObject({ method: 'key', name: 'dir', checked: { files: 1 } })
  })

  it('needs a key, and says what goes together', async () => {
    expect(await runCli('sign', at('dir'))).toMatchObject({ status: 2 })
    expect(await runCli('sign', at('nosuch'), '--key', at('mine.pem'))).toMatchObject({ status: 2 })
    expect(await runCli('verify', at('dir'), '--ignore-unsigned')).toMatchObject({ status: 2 })
    expect(await runCli('verify', at('dir'), '--key', at('mine.pub'), '--ca', at('mine.pub'))).toMatchObject({
      status: 2,
    })
    expect(await runCli('convert', at('a.safetensors'), '-o', at('b.npz'), '--key', at('mine.pem'))).toMatchObject({
      status: 2,
    })
  })
})

describe('a signed receipt', () => {
  it('ties the output to its source', async () => {
    const convert = [
      'convert',
      at('a.safetensors'),
      '-o',
      at('a.npz'),
      '--receipt',
      at('r.json'),
      '--key',
      at('mine.pem'),
    ]
    expect(await runCli(...convert)).toMatchObject({ status: 0 })
    const { payload } = JSON.parse(readFileSync(at('r.json'), 'utf8')).dsseEnvelope
    const statement = JSON.parse(Buffer.from(payload, 'base64').toString())
    expect(statement).toMatchObject({ subject: [{ name: 'a.npz' }], predicate: { receipt: 1 } })
    const verify = (key: string) =>
      runCli('verify', '--receipt', at('r.json'), '--key', at(key), '--source', at('a.safetensors'), at('a.npz'))
    expect(await verify('mine.pub')).toMatchObject({ status: 0 })
    expect(await verify('other.pub')).toMatchObject({ status: 1 })
    expect(await runCli('verify', '--receipt', at('r.json'), at('a.npz'))).toMatchObject({ status: 2 })
    // A signature of the source counts where there is one.
    expect(await runCli('sign', at('a.safetensors'), '--key', at('other.pem'))).toMatchObject({ status: 0 })
    expect(await verify('mine.pub')).toMatchObject({ status: 1 })
    expect(await runCli('sign', at('a.safetensors'), '--key', at('mine.pem'))).toMatchObject({ status: 0 })
    expect(await verify('mine.pub')).toMatchObject({ status: 0 })
  })
})
