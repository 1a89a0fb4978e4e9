// A process that is killed in the middle of an upload, at every request and at three moments of each, leaves no object. Run again with
// --resume, it gives the object that an undisturbed run gives. One that is told to end leaves no upload either.
import { type ChildProcess, spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { beforeAll, beforeEach, expect, it } from 'vitest'
import { useCompiled } from '../../cli/compiled.js'
import { useTempDir } from '../../node/temp-dir.js'
import { convertToFiles } from '../../support/convert.js'
import { sampleModel, sampleTensor } from '../../support/sample-model.js'
import { bytesOf } from './content.js'
import { type Fault, useS3 } from './server.js'

const at = useTempDir()
const server = useS3()
const dist = useCompiled()

const model = sampleModel([1, 2, 3, 4].map((i) => sampleTensor(`layer.${i}.weight`, 'f32', [2560, 1024], i)))
let bytes: Uint8Array
beforeAll(async () => {
  bytes = (await convertToFiles(model, 'safetensors', { name: 'm' })).get('m')!
})
beforeEach(() => writeFileSync(at('m.safetensors'), bytes))

let child: ChildProcess

/** The signal or status that it ended with. */
async function run(...more: string[]): Promise<string | number | null> {
  const args = [
    dist('cli', 'main.js'),
    'convert',
    at('m.safetensors'),
    '-o',
    's3://models/out.gguf',
    '--as-is',
    '-q',
    ...more,
  ]
  const home = { HOME: at('.'), AWS_CONFIG_FILE: at('none'), AWS_SHARED_CREDENTIALS_FILE: at('none') }
  const env = { ...process.env, ...home, ...server.environment, TARE_CACHE: at('cache') }
  child = spawn(process.execPath, args, { env, stdio: ['ignore', 'ignore', 'inherit'] })
  return new Promise((resolve) => child.on('exit', (status, signal) => resolve(signal ?? status)))
}

const stored = () => bytesOf(server.objects.get('out.gguf')!.content)

it('killed at twenty points and resumed, it gives the same object', async () => {
  expect(await run()).toBe(0)
  const truth = stored()
  const total = server.seen.length
  const moments: readonly (Fault | undefined)[] = [undefined, 'mute', 'lost-answer']
  expect(total * moments.length).toBeGreaterThanOrEqual(20)
  let saved = 0
  for (let turn = 0; turn < total; turn++) {
    for (const moment of moments) {
      server.objects.clear()
      server.seen.length = 0
      server.fault = (_, index) => {
        if (index !== turn) return undefined
        child.kill('SIGKILL')
        return moment
      }
      expect(await run()).toBe('SIGKILL')
      const isLast = turn === total - 1
      if (!isLast) expect(server.objects.has('out.gguf'), `request ${turn}`).toBe(false)
      server.fault = () => undefined
      server.seen.length = 0
      expect(await run('--resume'), `request ${turn}`).toBe(0)
      expect(Buffer.compare(stored(), truth), `request ${turn}`).toBe(0)
      if (server.seen.reduce((sum, seen) => sum + seen.in, 0) < truth.byteLength) saved++
    }
  }
  expect(saved).toBeGreaterThan(total)
}, 240_000)

it.each(['SIGINT', 'SIGTERM'] as const)(
  'told to end by %s, it leaves neither object nor upload',
  async (signal) => {
    // Once: a second signal ends the process without waiting for anything.
    let isSent = false
    server.fault = ({ operation }) => {
      if (operation === 'part' && !isSent) isSent = child.kill(signal)
      return undefined
    }
    expect(await run()).toBe(signal === 'SIGINT' ? 130 : 143)
    expect([server.objects.size, server.uploads.size]).toEqual([0, 0])
  },
  60_000,
)
