// Verbs that the other tests of stores do not try, on objects as on files.
import { generateKeyPairSync } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, it } from 'vitest'
import { useTempDir } from '../../node/temp-dir.js'
import { useEnvironment } from './command.js'
import { bytesOf } from './content.js'
import { useS3 } from './server.js'

const at = useTempDir()
const server = useS3()
const tare = useEnvironment(server, at)
const sample = resolve(import.meta.dirname, '../../../examples/tiny-mlp.safetensors')

function serve(key: string, path: string): string {
  server.put(key, readFileSync(path))
  return `s3://models/${key}`
}

it('a container is packed into a store', async () => {
  writeFileSync(at('model.json'), JSON.stringify({ tensors: { gain: [1, 0.5, 0.25] } }))
  expect(await tare('pack', at('model.json'), '-o', 's3://models/packed.safetensors')).toMatchObject({ status: 0 })
  expect(await tare('pack', at('model.json'), '-o', at('packed.safetensors'))).toMatchObject({ status: 0 })
  const { content } = server.objects.get('packed.safetensors')!
  const stored = bytesOf(content)
  expect(Buffer.compare(stored, readFileSync(at('packed.safetensors')))).toBe(0)
})

it('an object is drawn as a file is', async () => {
  const address = serve('tiny.safetensors', sample)
  for (const [input, output] of [
    [address, 'far.png'],
    [sample, 'near.png'],
  ] as const)
    expect((await tare('picture', input, 'layers.0.weight', '-o', at(output))).status).toBe(0)
  expect(Buffer.compare(readFileSync(at('far.png')), readFileSync(at('near.png')))).toBe(0)
})

it('signing and verifying a signature say how to bring an object here', async () => {
  const address = serve('tiny.safetensors', sample)
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  writeFileSync(at('key.pem'), privateKey.export({ type: 'pkcs8', format: 'pem' }))
  for (const verb of ['sign', 'verify'])
    expect(await tare(verb, address, '--key', at('key.pem'))).toMatchObject({
      status: 2,
      stderr: expect.stringContaining(`tare fetch ${address} -o DIR`),
    })
})
