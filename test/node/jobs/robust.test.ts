// What happens to jobs in the world: workers that are killed at any moment, that hang and come back, that run another version; inputs that
// change or are damaged; results that somebody touched. The job ends with the bytes of the single run, or it stops and says why.
import { type ChildProcess, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { useCompiled } from '../../cli/compiled.js'
import { runCli as tare } from '../../cli/run-cli.js'
import { convertToFiles } from '../../support/convert.js'
import { sampleModel, sampleTensor } from '../../support/sample-model.js'
import { useTempDir } from '../temp-dir.js'

const at = useTempDir()
const dist = useCompiled()

const model = sampleModel([
  ...[1, 2, 3, 4, 5, 6].map((i) => sampleTensor(`layer.${i}.weight`, 'f16', [1024, 1024], i)),
  sampleTensor('norm', 'f32', [1027], 9),
])
const sha256 = (path: string): string => createHash('sha256').update(readFileSync(path)).digest('hex')

let bytes: Uint8Array
let npz: Uint8Array
beforeAll(async () => {
  bytes = (await convertToFiles(model, 'safetensors', { name: 'm' })).get('m')!
  npz = (await convertToFiles(model, 'npz', { name: 'm' })).get('m')!
})
beforeEach(() => writeFileSync(at('m.safetensors'), bytes))

const flags = ['--to', 'npz', '--cast', 'f32', '-q']
const plan = (...more: string[]) =>
  tare('plan', at('m.safetensors'), at('out'), '-o', at('job.json'), '--part-size', '1M', ...flags, ...more)

async function truth(): Promise<string> {
  expect((await tare('convert', at('m.safetensors'), '-o', at('ref'), ...flags)).status).toBe(0)
  return sha256(at('ref'))
}

/** The folder that collects the parts. */
const folder = (): string => at(readdirSync(at('.')).find((name) => name.includes('.job-'))!)

function worker(part: string): ChildProcess {
  const args = [dist('cli', 'main.js'), 'work', at('job.json'), '--part', part, '-q', '--threads', '1']
  return spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit'] })
}

const ended = (child: ChildProcess): Promise<string | number | null> =>
  new Promise((resolve) => child.on('exit', (status, signal) => resolve(signal ?? status)))

describe('a job whose workers are killed', () => {
  it('at random moments ends with the same bytes, and makes at most one part per kill twice', async () => {
    const wanted = await truth()
    expect((await plan()).status).toBe(0)
    const results = join(folder(), 'results')
    let kills = 0
    for (let round = 0; round < 12; round++) {
      const before = new Set(readdirSync(results))
      const children = [worker('1/2'), worker('2/2')]
      const ends = children.map(ended)
      await setTimeout(150 + 60 * round)
      for (const child of children) if (child.kill('SIGKILL')) kills++
      await Promise.all(ends)
      const now = readdirSync(results)
      // What was done stays done.
      for (const name of before) expect(now).toContain(name)
    }
    expect(kills).toBeGreaterThan(0)
    const left = JSON.parse((await tare('status', at('job.json'), '--json')).stdout).missing.length
    const rest = JSON.parse((await tare('work', at('job.json'), '--json')).stdout)
    expect(rest.made).toBe(left)
    expect((await tare('finish', at('job.json'), '-q')).status).toBe(0)
    expect(sha256(at('out'))).toBe(wanted)
    expect(readdirSync(at('.')).filter((name) => name.includes('.job-'))).toEqual([])
  }, 120_000)

  it('and one that hung comes back after the job is finished: the output stays as it is', async () => {
    const wanted = await truth()
    expect((await plan()).status).toBe(0)
    const child = worker('1/1')
    const end = ended(child)
    while (readdirSync(join(folder(), 'results')).length === 0) await setTimeout(5)
    child.kill('SIGSTOP')
    expect((await tare('work', at('job.json'), '-q')).status).toBe(0)
    expect((await tare('finish', at('job.json'), '-q')).status).toBe(0)
    expect(sha256(at('out'))).toBe(wanted)
    child.kill('SIGCONT')
    await end
    expect(sha256(at('out'))).toBe(wanted)
  }, 60_000)
})

describe('a job stops with a finding', () => {
  it('where another version works on it', async () => {
    await plan()
    const job = JSON.parse(readFileSync(at('job.json'), 'utf8'))
    writeFileSync(at('job.json'), JSON.stringify({ ...job, tare: '0.0.1' }))
    const { status, stderr } = await tare('work', at('job.json'))
    expect([status, stderr]).toEqual([2, expect.stringContaining('job/version')])
    expect(stderr).toContain('tare 0.0.1 planned it')
  })

  it('where the plan comes out differently', async () => {
    await plan()
    const job = JSON.parse(readFileSync(at('job.json'), 'utf8'))
    writeFileSync(at('job.json'), JSON.stringify({ ...job, options: { ...job.options, cast: 'f64' } }))
    const { status, stderr } = await tare('work', at('job.json'))
    expect([status, stderr]).toEqual([2, expect.stringContaining('job/layout')])
    expect(readdirSync(join(folder(), 'results'))).toEqual([])
  })

  it.each(['work', 'finish'])('where the input changed before %s', async (verb) => {
    await plan()
    if (verb === 'finish') await tare('work', at('job.json'), '-q')
    utimesSync(at('m.safetensors'), new Date(), new Date(Date.now() + 5000))
    const { status, stderr } = await tare(verb, at('job.json'))
    expect([status, stderr]).toEqual([2, expect.stringContaining('job/input-changed')])
    expect(existsSync(at('out'))).toBe(false)
  })

  it('where the input is damaged', async () => {
    npz[npz.length >> 1]! ^= 1
    writeFileSync(at('m.npz'), npz)
    npz[npz.length >> 1]! ^= 1
    const options = ['-o', at('job.json'), '--part-size', '1M', '-q']
    expect((await tare('plan', at('m.npz'), at('out.safetensors'), ...options)).status).toBe(0)
    const { status, stderr } = await tare('work', at('job.json'))
    expect([status, stderr]).toEqual([1, expect.stringContaining('verify/damaged')])
    expect((await tare('finish', at('job.json'))).stderr).toContain('job/incomplete')
    await tare('plan', at('m.npz'), at('out.safetensors'), ...options, '--allow-damage')
    expect((await tare('work', at('job.json'), '-q')).status).toBe(0)
    expect(JSON.parse((await tare('finish', at('job.json'), '--json')).stdout).damage).toHaveLength(1)
  })

  it('where a value cannot be quantized', async () => {
    const bad = sampleTensor('w.weight', 'f32', [16, 256], 3)
    const nan = new Uint8Array(16 * 256 * 4).fill(0xff)
    const file = await convertToFiles(sampleModel([{ ...bad, data: memory(nan) }]), 'safetensors', { name: 'm' })
    writeFileSync(at('nan.safetensors'), file.get('m')!)
    await tare('plan', at('nan.safetensors'), at('out.gguf'), '--quantize', 'q4_k', '-o', at('job.json'), '-q')
    const { status, stderr } = await tare('work', at('job.json'))
    expect([status, stderr]).toEqual([1, expect.stringContaining('w.weight')])
    expect((await tare('finish', at('job.json'))).status).toBe(1)
  })

  it('where a result is not what a worker leaves', async () => {
    await plan()
    await tare('work', at('job.json'), '-q')
    writeFileSync(join(folder(), 'results', '3.json'), '{"task":3}')
    const { status, stderr } = await tare('finish', at('job.json'))
    expect([status, stderr]).toEqual([2, expect.stringContaining('job/result')])
    rmSync(join(folder(), 'results', '3.json'))
    await tare('work', at('job.json'), '-q')
    expect((await tare('finish', at('job.json'), '-q')).status).toBe(0)
  })

  it('where the output is there already and must not be replaced, or is the input', async () => {
    writeFileSync(at('out'), 'mine')
    expect((await plan('--no-overwrite')).stderr).toContain('io/exists')
    const own = await tare('plan', at('m.safetensors'), at('m.safetensors'), '--cast', 'f32', '-o', at('job.json'))
    expect([own.status, own.stderr]).toEqual([2, expect.stringContaining('io/exists')])
    expect(readFileSync(at('out'), 'utf8')).toBe('mine')
  })

  it('where an address holds a secret, which is not shown', async () => {
    const address = 'https://user:hunter2@example.org/m.safetensors?X-Amz-Signature=abc'
    const { status, stderr } = await tare('plan', address, at('out.gguf'), '-o', at('job.json'))
    expect([status, stderr]).toEqual([2, expect.stringContaining('job/secret')])
    expect(stderr).not.toMatch(/hunter2|abc/)
    expect(existsSync(at('job.json'))).toBe(false)
  })
})

const memory = (content: Uint8Array) => ({
  byteLength: content.byteLength,
  async *chunks() {
    yield content
  },
})

it('a finisher that is killed between two files of a set is followed by another one', async () => {
  const set = ['--shard-size', '5M', '-q']
  await tare('convert', at('m.safetensors'), '-o', at('ref/'), ...set)
  await tare('plan', at('m.safetensors'), at('out/'), ...set, '-o', at('job.json'))
  await tare('work', at('job.json'), '-q')
  // As if it had given its name to the last file, and to no other.
  const names = JSON.parse(readFileSync(at('job.json'), 'utf8')).files.map(({ name }: { name: string }) => name)
  const { mkdirSync, renameSync } = await import('node:fs')
  mkdirSync(at('out'), { recursive: true })
  renameSync(join(folder(), `file-${names.length - 1}`), at('out', names.at(-1)))
  const finished = await tare('finish', at('job.json'), '-q')
  expect([finished.status, finished.stderr]).toEqual([0, ''])
  for (const name of readdirSync(at('ref'))) expect(sha256(at('out', name))).toBe(sha256(at('ref', name)))
})

it('planned twice, it is the same job, and what is done stays done', async () => {
  await plan()
  expect((await tare('work', at('job.json'), '--part', '1/2', '-q')).status).toBe(0)
  await plan()
  const { made, tasks } = JSON.parse((await tare('work', at('job.json'), '--json')).stdout)
  expect(made).toBeLessThan(tasks)
  expect((await tare('finish', at('job.json'), '-q')).status).toBe(0)
})
