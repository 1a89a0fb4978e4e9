// A job gives the bytes of the single run, in every format that is written: planned once, worked on by three workers that plan for themselves,
// and finished by another one. Compared by SHA-256.
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Job } from '../../../src/jobs/job.js'
import { lazyPayload, readPayload, type Tensor } from '../../../src/kit.js'
import { runCli as tare } from '../../cli/run-cli.js'
import { convertToFiles } from '../../support/convert.js'
import { sampleModel, sampleTensor } from '../../support/sample-model.js'
import { useTempDir } from '../temp-dir.js'

const at = useTempDir()
const workers = 3

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

/** Random bits are not all finite: the upper bytes make them small numbers. */
function numbers(name: string, shape: readonly number[], seed: number): Tensor {
  const tensor = sampleTensor(name, 'bf16', shape, seed)
  const slot = tensor.data!
  return {
    ...tensor,
    data: lazyPayload(slot.byteLength, async function* () {
      const bytes = await readPayload(slot)
      yield bytes.map((byte, i) => (i % 2 === 1 ? 0x3c + (byte % 4) : byte))
    }),
  }
}

const model = sampleModel([
  numbers('a.weight', [640, 512], 1),
  numbers('a.copy.weight', [640, 512], 1),
  sampleTensor('norm.weight', 'i32', [33], 2),
  numbers('b.weight', [1300, 256], 3),
  sampleTensor('c', 'i8', [1000, 7], 4),
])

let safetensors: Uint8Array
let npz: Uint8Array
beforeAll(async () => {
  safetensors = (await convertToFiles(model, 'safetensors', { name: 'm' })).get('m')!
  npz = (await convertToFiles(model, 'npz', { name: 'm' })).get('m')!
})

/** The files of an output, by their names. */
function digests(name: string): Record<string, string> {
  const stem = name.replace(/\..*$/, '')
  const names = readdirSync(at('.')).filter((each) => each.startsWith(stem))
  return Object.fromEntries(names.sort().map((each) => [each.slice(stem.length), sha256(readFileSync(at(each)))]))
}

async function expectSame(
  input: string,
  extension: string,
  flags: readonly string[],
  partSize = '300K',
): Promise<void> {
  const options = [...flags, '-q']
  const job = at('job.json')
  const planned = await tare('plan', at(input), at(`out${extension}`), '-o', job, '--part-size', partSize, ...options)
  expect([planned.status, planned.stderr]).toEqual([0, ''])
  const { options: chosen, tasks } = JSON.parse(readFileSync(job, 'utf8'))
  expect(tasks).toBeGreaterThan(1)
  const uuid = chosen.extra?.uuid === undefined ? [] : ['--uuid', chosen.extra.uuid.replaceAll('-', '')]
  const once = await tare('convert', at(input), '-o', at(`ref${extension}`), ...options, ...uuid)
  expect([once.status, once.stderr]).toEqual([0, ''])
  for (let part = workers; part >= 1; part--) {
    expect((await tare('finish', job, '-q')).status).toBe(1)
    const worked = await tare('work', job, '--part', `${part}/${workers}`, '-q')
    expect([worked.status, worked.stderr]).toEqual([0, ''])
  }
  const finished = await tare('finish', job, '-q')
  expect([finished.status, finished.stderr]).toEqual([0, ''])
  const made = digests(`out${extension}`)
  expect(Object.keys(made).length).toBeGreaterThan(0)
  // The names of shards are in an index.
  if (Object.keys(made).length === 1) expect(made).toEqual(digests(`ref${extension}`))
  else expect((await tare('diff', at(`out${extension}`), at(`ref${extension}`))).status).toBe(0)
}

describe('a job', () => {
  it.each([
    ['.safetensors', []],
    ['.safetensors', ['--cast', 'f16']],
    ['.npz', []],
    ['.npz', ['--cast', 'f64']],
    ['.bin', ['--to', 'embd', '--cast', 'f32', '--only', '*.weight', '--exclude', 'norm*']],
    ['.oinf', ['--cast', 'f16']],
    ['.gguf', []],
    ['.gguf', ['--quantize', 'q4_k']],
    ['.gguf', ['--quantize', 'iq4_nl', '--tensor-method', 'a.*=keep']],
    ['.gguf', ['--target-bits', '6']],
    ['.mcf', ['--quantize', 'k4']],
    ['.mcf', ['--quantize', 'int8', '--activations']],
    ['.mcf', ['--quantize', 'q8', '--clip=-0.1,0.1']],
    ['.aero', ['--quantize', 'q8_0', '--page-hashes', '64K', '--control-hash']],
    ['.aero', ['--dedup', '--cast', 'f32']],
    ['.aero', ['--deterministic', '--shard-size', '200K']],
  ] as const)('for %s with %j gives the bytes of the single run', async (extension, flags) => {
    writeFileSync(at('m.safetensors'), safetensors)
    if (flags[0] === '--target-bits') return expectTarget(flags[1])
    await expectSame('m.safetensors', extension, flags)
  })

  it.each(['k4', 'q4', 'int4'])('that cuts tensors of %s gives the bytes of the single run', async (method) => {
    writeFileSync(at('m.safetensors'), safetensors)
    await expectSame('m.safetensors', '.mcf', ['--quantize', method], '24K')
    const { tasks } = JSON.parse(readFileSync(at('job.json'), 'utf8'))
    expect(tasks).toBeGreaterThan(15)
  })

  it('whose input has checksums looks at them, and gives the same bytes', async () => {
    writeFileSync(at('m.npz'), npz)
    await expectSame('m.npz', '.safetensors', [])
  })

  it('of several files gives all of them', async () => {
    writeFileSync(at('m.safetensors'), safetensors)
    for (const name of ['job', 'single']) {
      const target = at(name, '/')
      const flags = ['--shard-size', '800K', '-q']
      if (name === 'single') await tare('convert', at('m.safetensors'), '-o', target, ...flags)
      else {
        expect((await tare('plan', at('m.safetensors'), target, ...flags, '-o', at('job.json'))).status).toBe(0)
        await tare('work', at('job.json'), '-q')
        const { status, stderr } = await tare('finish', at('job.json'), '-q')
        expect([status, stderr]).toEqual([0, ''])
      }
    }
    const names = readdirSync(at('single')).sort()
    expect(names.length).toBeGreaterThan(2)
    expect(readdirSync(at('job')).sort()).toEqual(names)
    for (const name of names)
      expect(sha256(readFileSync(at('job', name)))).toBe(sha256(readFileSync(at('single', name))))
    expect(readdirSync(at('.')).filter((name) => name.includes('.job-'))).toEqual([])
  })
})

describe('a job that begins with looks at values', () => {
  const uuid = ['--uuid', '00112233445546778899aabbccddeeff'] as const
  const jobFile = (): Job => JSON.parse(readFileSync(at('job.json'), 'utf8'))
  const run = async (...args: string[]): Promise<void> => {
    const { status, stderr } = await tare(...args, '-q')
    expect([status, stderr]).toEqual([0, ''])
  }
  const plan = (extension: string, flags: readonly string[], ...more: string[]): Promise<void> =>
    run(
      'plan',
      at('m.safetensors'),
      at(`out${extension}`),
      '-o',
      at('job.json'),
      '--part-size',
      '300K',
      ...flags,
      ...more,
    )
  beforeEach(() => writeFileSync(at('m.safetensors'), safetensors))

  it.each([
    ['.mcf', ['--quantize', 'k4', ...uuid], ['range']],
    ['.mcf', ['--quantize', 'int8', '--activations', ...uuid], ['range']],
    ['.aero', ['--dedup', '--deterministic'], ['digest']],
    ['.mcf', ['--target-bits', '5', ...uuid], ['methods', 'range']],
    ['.gguf', ['--target-bits', '6'], ['methods']],
  ] as const)('for %s with %j is the job that planning alone gives', async (extension, flags, rounds) => {
    await plan(extension, flags)
    const wanted = jobFile()
    await run('finish', at('job.json'), '--discard')
    await plan(extension, flags, '--leave-looks')
    for (const kind of rounds) {
      const { looks, tasks } = jobFile()
      expect([looks?.next.kind, tasks]).toEqual([kind, expect.any(Number)])
      expect((await tare('finish', at('job.json'), '-q')).status).toBe(1)
      for (const part of [2, 1]) await run('work', at('job.json'), '--part', `${part}/2`)
      expect((await tare('status', at('job.json'))).stdout).toContain('ready')
      await run('finish', at('job.json'))
    }
    expect(jobFile()).toEqual(wanted)
    await run('work', at('job.json'))
    await run('finish', at('job.json'))
    const verb = flags[0] === '--target-bits' ? 'quantize' : 'convert'
    await run(verb, at('m.safetensors'), '-o', at(`ref${extension}`), ...flags)
    expect(digests(`out${extension}`)).toEqual(digests(`ref${extension}`))
    expect(readdirSync(at('.')).filter((name) => name.includes('.job-'))).toEqual([])
  })

  it('needs none where nothing depends on values', async () => {
    await plan('.gguf', ['--cast', 'f16'], '--leave-looks')
    expect(jobFile().looks).toBeUndefined()
  })

  it('stops where an answer is none, and where the input changed', async () => {
    await plan('.mcf', ['--quantize', 'k4'], '--leave-looks')
    await run('work', at('job.json'))
    const folder = at(readdirSync(at('.')).find((name) => name.includes('.job-'))!, 'results')
    const text = readFileSync(join(folder, '0.json'), 'utf8')
    const { answers } = JSON.parse(text)
    for (const wrong of [[], [...answers, ...answers], [[1, 2]], 'x'])
      for (const each of [
        { ...JSON.parse(text), answers: wrong },
        { ...JSON.parse(text), answers: undefined },
      ]) {
        writeFileSync(join(folder, '0.json'), JSON.stringify(each))
        const { status, stderr } = await tare('finish', at('job.json'))
        expect([status, stderr]).toEqual([2, expect.stringContaining('job/result')])
      }
    writeFileSync(join(folder, '0.json'), text)
    writeFileSync(at('m.safetensors'), safetensors.with(safetensors.length - 1, 1))
    const { status, stderr } = await tare('finish', at('job.json'))
    expect([status, stderr]).toEqual([expect.any(Number), expect.stringContaining('job/input-changed')])
    expect(jobFile().looks).toBeDefined()
  })
})

/** `quantize` takes the size there. */
async function expectTarget(bits: string): Promise<void> {
  const job = at('job.json')
  expect((await tare('plan', at('m.safetensors'), at('out.gguf'), '-o', job, '--target-bits', bits, '-q')).status).toBe(
    0,
  )
  expect(JSON.parse(readFileSync(job, 'utf8')).resolved.methods.length).toBeGreaterThan(3)
  for (const part of [1, 2]) expect((await tare('work', job, '--part', `${part}/2`, '-q')).status).toBe(0)
  expect((await tare('finish', job, '-q')).status).toBe(0)
  const flags = ['--target-bits', bits, '-q']
  expect((await tare('quantize', at('m.safetensors'), '-o', at('ref.gguf'), ...flags)).status).toBe(0)
  expect(sha256(readFileSync(at('out.gguf')))).toBe(sha256(readFileSync(at('ref.gguf'))))
}
