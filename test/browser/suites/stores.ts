// A page that reads from an object store and writes into one, with credentials of its own or with an address that is signed.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { AwsV4Signer } from 'aws4fetch'
import { beforeAll, beforeEach, expect, it } from 'vitest'
import { MemorySource, openModel } from '../../../src/kit.js'
import { bytesOf } from '../../remote/s3/content.js'
import { useS3 } from '../../remote/s3/server.js'
import { convertToFiles } from '../../support/convert.js'
import { sampleModel, sampleTensor } from '../../support/sample-model.js'
import { hashText } from '../page/models.js'
import { callIn, type Use } from '../site.js'

export function storeSuite({ site, page }: Use): void {
  const server = useS3()
  const model = sampleModel([1, 2].map((i) => sampleTensor(`layer.${i}.weight`, 'f32', [1536, 1024], i)))
  const credentials = { accessKeyId: 'AKID', secretAccessKey: 'S3CR3T' }
  const store = () => ({ endpoint: server.endpoint, credentials, tries: 1 })
  let bytes: Uint8Array
  let wanted: string
  beforeAll(async () => {
    bytes = (await convertToFiles(model, 'safetensors', { name: 'm' })).get('m')!
    wanted = await hashText(new MemorySource(bytes))
    writeFileSync(join(site().folder, 'files', 'm.safetensors'), bytes)
  })
  beforeEach(() => {
    server.allowed = site().plain.origin
    server.put('dir/m.safetensors', bytes)
  })

  it('reads an object and a prefix with given credentials', async () => {
    for (const address of ['s3://models/dir/m.safetensors', 's3://models/dir/'])
      expect(await callIn(page(), 'page', 'hashStored', address, store()), address).toBe(wanted)
    const wrong = { ...store(), credentials: { ...credentials, secretAccessKey: 'WR0NG' } }
    const refused = await callIn(page(), 'page', 'hashStored', 's3://models/dir/m.safetensors', wrong)
    expect(refused).toMatch(/^remote\/status/)
  })

  it('reads an address that is signed, and none whose signature is wrong', async () => {
    const url = `${server.endpoint}/models/dir/m.safetensors`
    const given = { ...credentials, service: 's3', region: 'us-east-1', signQuery: true }
    const signed = (await new AwsV4Signer({ url, ...given }).sign()).url.href
    expect(await callIn(page(), 'page', 'hashStored', signed)).toBe(wanted)
    const other = signed.replace(/Signature=..../, 'Signature=0000')
    expect(await callIn(page(), 'page', 'hashStored', other)).toMatch(/^remote\/status/)
  })

  it.each(['gguf', 'aero'])('writes %s as Node does', async (to) => {
    const options = { name: 'out', deterministic: true }
    const files = await convertToFiles(await openModel(new MemorySource(bytes, 'm.safetensors')), to, options)
    expect(await callIn(page(), 'page', 'convertIntoStore', '/files/m.safetensors', 'out', to, store())).toBe('done')
    expect(Buffer.compare(bytesOf(server.objects.get('out')!.content), files.get('out')!)).toBe(0)
    expect(server.uploads.size).toBe(0)
  })
}
