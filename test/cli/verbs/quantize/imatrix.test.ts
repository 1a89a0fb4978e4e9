// Quantizing with an importance matrix, and like ggml, through the command.
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { beforeEach, describe, expect, it } from 'vitest'
import { useTempDir } from '../../../node/temp-dir.js'
import { fixturePath } from '../../../support/fixtures.js'
import { runCli } from '../../run-cli.js'

const at = useTempDir()
const gguf = fixturePath('imatrix', 'dense.gguf')
const legacy = fixturePath('imatrix', 'dense.dat')
const weight = 'blk.0.attn_k.weight'

beforeEach(() => {
  const values = Float32Array.from({ length: 2 * 8 * 256 }, (_, i) => Math.sin(i * 0.7) * Math.cos(i * 0.013))
  const entry = (start: number) => ({ dtype: 'F32', shape: [8, 256], data_offsets: [start, start + 8192] })
  const header = JSON.stringify({ [weight]: entry(0), 'other.weight': entry(8192) })
  const length = new Uint8Array(BigUint64Array.of(BigInt(header.length)).buffer)
  writeFileSync(at('model.safetensors'), Buffer.concat([length, Buffer.from(header), Buffer.from(values.buffer)]))
})

// biome-ignore lint/suspicious/noExplicitAny: JSON
async function json(...args: string[]): Promise<any> {
  const { status, stdout, stderr } = await runCli(...args, '--json')
  expect([status, stderr]).toEqual([0, ''])
  return JSON.parse(stdout)
}

const quantize = (output: string, ...args: string[]) =>
  json('quantize', at('model.safetensors'), '-o', at(output), '--report', ...args)

describe('--imatrix', () => {
  it('weighs the tensors that it names, and reports both errors', async () => {
    const weighted = (await quantize('a.gguf', '--method', 'q2_k', '--imatrix', gguf)).quality.tensors
    const plain = (await quantize('b.gguf', '--method', 'q2_k')).quality.tensors
    expect(weighted[0].weightedRmse).toBeGreaterThan(0)
    expect(weighted[0].weightedRmse).not.toBe(weighted[0].rmse)
    expect(plain[0].weightedRmse).toBeUndefined()
    expect(weighted[0].rmse).not.toBe(plain[0].rmse)
    // There are no weights for the other tensor.
    expect(weighted[1].rmse).toBe(plain[1].rmse)
  })

  it.each(['q4', 'k4', 'k3', 'k2'])("weighs MCF's %s as well", async (method) => {
    const [weighted, other] = (await quantize('w.mcf', '--method', method, '--imatrix', gguf)).quality.tensors
    // Both measured by the same weights.
    const args = [
      at('model.safetensors'),
      '-o',
      at('r.mcf'),
      '--method',
      method,
      '--imatrix',
      gguf,
      '--reference-exact',
    ]
    const [reference] = (await json('quantize', ...args, '--report')).quality.tensors
    const [plain, plainOther] = (await quantize('p.mcf', '--method', method)).quality.tensors
    expect(weighted.weightedRmse).toBeLessThan(reference.weightedRmse)
    expect(weighted.rmse).toBeGreaterThan(plain.rmse)
    expect(other.rmse).toBe(plainOther.rmse)
  })

  it('takes both forms', async () => {
    for (const [name, matrix] of [
      ['c.gguf', gguf],
      ['d.gguf', legacy],
    ] as const) {
      await quantize(name, '--method', 'iq3_s', '--imatrix', matrix)
    }
    expect(readFileSync(at('c.gguf'))).toEqual(readFileSync(at('d.gguf')))
  })

  it('keeps tensors that a method cannot do without weights', async () => {
    const { choices } = await quantize('e.gguf', '--method', 'iq1_s', '--imatrix', gguf)
    const byName = Object.fromEntries(choices.map((each: { name: string }) => [each.name, each]))
    expect(byName[weight].method).toBe('ggml.iq1_s')
    expect(byName['other.weight']).toMatchObject({
      reason: 'there are no importance weights for it, which ggml.iq1_s needs',
    })
    const { status, stderr } = await runCli(
      'quantize',
      at('model.safetensors'),
      '-o',
      at('f.gguf'),
      '--method',
      'iq1_s',
    )
    expect(status).toBe(2)
    expect(stderr).toContain('ggml.iq1_s needs importance weights')
    expect(existsSync(at('f.gguf'))).toBe(false)
  })

  it('shows both errors', async () => {
    const { stdout } = await runCli(
      ...['quantize', at('model.safetensors'), '-o', at('g.gguf'), '--method', 'q4_k', '--imatrix', gguf, '--report'],
    )
    expect(stdout.split('\n')[0]).toMatch(/bits +rmse +weighted +max error/)
  })

  it('refuses what is not a matrix', async () => {
    const { status, stderr } = await runCli(
      ...['quantize', at('model.safetensors'), '-o', at('h.gguf'), '--imatrix', at('model.safetensors')],
    )
    expect(status).not.toBe(0)
    expect(stderr).toContain('not an importance matrix')
  })

  it('goes from .dat to GGUF by converting', async () => {
    expect((await runCli('convert', legacy, '-o', at('matrix.gguf'))).status).toBe(0)
    await quantize('i.gguf', '--method', 'iq3_s', '--imatrix', at('matrix.gguf'))
    await quantize('j.gguf', '--method', 'iq3_s', '--imatrix', legacy)
    expect(readFileSync(at('i.gguf'))).toEqual(readFileSync(at('j.gguf')))
  })
})

const results = fixturePath('mixes', 'end-to-end/results.json')
const model = fixturePath('mixes', 'end-to-end/tiny-llama-f16.gguf')

interface Mix {
  readonly mix: string
  readonly imatrix: string | null
  readonly tensors?: Readonly<Record<string, readonly [type: string, sha256: string]>>
}

describe.skipIf(!existsSync(results))('--reference-exact', () => {
  const mixes: readonly Mix[] = existsSync(results) ? JSON.parse(readFileSync(results, 'utf8')).results : []
  const chosen = mixes.filter(({ mix, imatrix }) => imatrix && ['Q4_K_M', 'IQ4_XS', 'Q5_1'].includes(mix))

  it.each(chosen)('gives the tensors of llama-quantize for $mix', async ({ tensors }) => {
    const types = Object.entries(tensors!)
    const isPlain = (type: string): boolean => /^b?f\d+$/.test(type)
    const rules = types.flatMap(([name, [type]]) => ['--tensor-method', `${name}=${isPlain(type) ? 'keep' : type}`])
    await json(
      'quantize',
      model,
      '-o',
      at('exact.gguf'),
      '--reference-exact',
      '--method',
      'q8_0',
      '--imatrix',
      gguf,
      ...rules,
    )
    const hashed = await json('hash', at('exact.gguf'), '--algorithm', 'sha256')
    const digests = new Map(hashed.tensors.map((each: { name: string; digest: string }) => [each.name, each.digest]))
    for (const [name, [type, sha256]] of types) if (!isPlain(type)) expect(digests.get(name), name).toBe(sha256)
    expect(types.length).toBeGreaterThan(10)
  })

  it('was measured with this matrix', () => {
    const beside = readFileSync(fixturePath('mixes', 'end-to-end/dense.gguf'))
    const digest = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex')
    expect(digest(beside)).toBe(digest(readFileSync(gguf)))
  })
})
