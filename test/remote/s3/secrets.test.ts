// What the command prints and writes never holds the credentials of a store, whether it succeeds or not.
import { readFileSync, writeFileSync } from 'node:fs'
import { beforeEach, expect, it, vi } from 'vitest'
import { useTempDir } from '../../node/temp-dir.js'
import { convertToFiles } from '../../support/convert.js'
import { sampleModel, sampleTensor } from '../../support/sample-model.js'
import { useEnvironment } from './command.js'
import { useS3 } from './server.js'

const at = useTempDir()
const server = useS3()
const tare = useEnvironment(server, at)

const secrets = /AKID|S3CR3T|T0KEN|Signature=|Credential=/

beforeEach(async () => {
  const model = sampleModel([1, 2].map((i) => sampleTensor(`layer.${i}.weight`, 'f32', [1536, 1024], i)))
  const bytes = (await convertToFiles(model, 'safetensors', { name: 'm' })).get('m')!
  server.put('m.safetensors', bytes)
  writeFileSync(at('m.safetensors'), bytes)
  server.keys.set('AKID', { secret: 'S3CR3T', token: 'T0KEN' })
  vi.stubEnv('AWS_SESSION_TOKEN', 'T0KEN')
})

const far = 's3://models/m.safetensors'
const verbs: readonly (readonly string[])[] = [
  ['inspect', far],
  ['inspect', far, '--map'],
  ['verify', far],
  ['hash', far],
  ['convert', far, '-o', 's3://models/out.gguf', '--as-is', '--dry-run'],
  ['convert', far, '-o', 's3://models/out.gguf', '--as-is', '--receipt', 'RECEIPT'],
  ['edit', far, '--set', 'note=x'],
  ['fetch', far, '-o', 'HOME'],
]

it.each(verbs.map((words) => [words.join(' '), words] as const))(
  '%s',
  async (_, words) => {
    const args = words.map((word) => (/^[A-Z]+$/.test(word) ? at(word) : word))
    for (const fault of [undefined, 'denied', 'expired-token', '500'] as const) {
      for (const more of [[], ['--json']]) {
        server.fault = () => fault
        const { stdout, stderr, status } = await tare(...args, ...more)
        expect(stdout + stderr).not.toMatch(secrets)
        if (fault === 'denied') expect(status).toBeGreaterThan(0)
      }
      if (fault === undefined && words.includes('RECEIPT'))
        expect(readFileSync(at('RECEIPT'), 'utf8')).not.toMatch(secrets)
      if (fault === '500') break
    }
  },
  60_000,
)
