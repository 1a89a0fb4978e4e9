// Each request of a fetch, and of an upload that goes on, fails once: the result is right, or there is a finding and nothing wrong is left.
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { useTempDir } from '../../node/temp-dir.js'
import { convertToFiles } from '../../support/convert.js'
import { sampleModel, sampleTensor } from '../../support/sample-model.js'
import { useEnvironment } from './command.js'
import { bytesOf } from './content.js'
import { type Fault, useS3 } from './server.js'

const at = useTempDir()
const server = useS3()
const tare = useEnvironment(server, at)

const model = sampleModel([1, 2, 3].map((i) => sampleTensor(`layer.${i}.weight`, 'f32', [2560, 1024], i)))
const [bytes] = (await convertToFiles(model, 'safetensors', { name: 'm', deterministic: true })).values()

/** With these the run goes on. What an answer to HEAD says has no reason in it, so that some look like a refusal there. */
const passing: readonly Fault[] = ['reset', '500', 'slow-down', 'lost-answer', 'expired-token', 'clock-skew']
const others: readonly Fault[] = ['short-body', 'wrong-range', 'changed-etag', 'denied', 'region']

describe.each([...passing, ...others])('%s', (fault) => {
  const isPassing = (operation: string): boolean =>
    passing.includes(fault) && !(operation === 'head' && /token|skew/.test(fault))

  it('in an upload that goes on', async () => {
    writeFileSync(at('m.safetensors'), bytes!)
    const run = () => tare('convert', at('m.safetensors'), '-o', 's3://models/out.gguf', '--as-is', '-q', '--resume')
    const interrupt = async (): Promise<void> => {
      server.objects.clear()
      server.uploads.clear()
      let parts = 0
      server.fault = ({ operation }) => (operation === 'part' && parts++ > 0 ? 'denied' : undefined)
      expect((await run()).status).toBeGreaterThan(0)
      expect(server.uploads.size).toBe(1)
      server.seen.length = 0
      server.fault = () => undefined
    }
    await interrupt()
    expect((await run()).status).toBe(0)
    const truth = bytesOf(server.objects.get('out.gguf')!.content)
    const operations = server.seen.map(({ operation }) => operation)
    expect(operations).toContain('parts')
    for (const [turn, operation] of operations.entries()) {
      await interrupt()
      server.fault = (_, index) => (index === turn ? fault : undefined)
      const { status, stderr } = await run()
      if (isPassing(operation)) expect([operation, status], stderr).toEqual([operation, 0])
      if (status === 0) expect(Buffer.compare(bytesOf(server.objects.get('out.gguf')!.content), truth)).toBe(0)
      else expect([server.objects.size, /\((remote|io)\/[\w-]+\)/.test(stderr)], stderr).toEqual([0, true])
    }
  }, 120_000)

  it('in a fetch', async () => {
    const files = { 'set/one.bin': bytes!.subarray(0, 200_000), 'set/two.bin': bytes!.subarray(7, 300_000) }
    for (const [key, content] of Object.entries(files)) server.put(key, content)
    const run = () => tare('fetch', 's3://models/set/', '-o', at('home'), '--parallel', '1')
    expect((await run()).status).toBe(0)
    const operations = server.seen.map(({ operation }) => operation)
    for (const [turn, operation] of operations.entries()) {
      rmSync(at('home'), { recursive: true, force: true })
      server.seen.length = 0
      server.fault = (_, index) => (index === turn ? fault : undefined)
      const { status, stderr } = await run()
      if (isPassing(operation)) expect([operation, status], stderr).toEqual([operation, 0])
      if (status > 0) expect(stderr).toMatch(/\((remote|io)\/[\w-]+\)/)
      for (const [key, content] of Object.entries(files)) {
        const path = at(key.replace('set', 'home'))
        if (status === 0 || existsSync(path)) expect(Buffer.compare(readFileSync(path), content)).toBe(0)
      }
    }
  }, 120_000)
})
