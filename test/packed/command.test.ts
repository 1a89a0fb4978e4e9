// A Llama whose queries and gates are packed, and its twin with the same values as plain weights: every command must see the same in both.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Model, Tensor } from '../../src/kit.js'
import { openModel, readTensor, stats } from '../../src/node.js'
import { runCli } from '../cli/run-cli.js'
import { tinyConfig, tinyShapes, tinyTensors, writeTinyModel } from '../families/tiny-model.js'
import { convertToFiles } from '../support/convert.js'
import { type Codes, gptqTensors, tensorOf } from './pack-weights.js'

const scratch = mkdtempSync(join(tmpdir(), 'tare-packed-'))
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

const isPacked = (name: string): boolean => /(q_proj|gate_proj)\.weight$/.test(name)
const query = 'model.layers.0.self_attn.q_proj.weight'
const quantization_config = { quant_method: 'gptq', bits: 4, group_size: 4, checkpoint_format: 'gptq' }

function codesFor([rows = 0, columns = 0]: readonly number[], seed: number): Codes {
  const groups = columns / 4
  const list = (count: number, value: (i: number) => number): number[] =>
    Array.from({ length: count }, (_, i) => value(i))
  return {
    ...{ rows, columns, bits: 4, groups },
    codes: list(rows * columns, (i) => (i * 5 + seed) % 16),
    scales: list(rows * groups, (i) => (i + 1) / 32),
    zeros: list(rows * groups, (i) => 1 + ((i + seed) % 15)),
    groupOf: list(columns, (c) => Math.floor(c / 4)),
  }
}

function valuesOf({ codes, scales, zeros, columns, groups, groupOf }: Codes): Float32Array {
  return Float32Array.from(codes, (code, i) => {
    const at = Math.floor(i / columns) * groups + groupOf[i % columns]!
    return scales[at]! * (code - zeros[at]!)
  })
}

async function weights(make: (tensor: Tensor, codes: Codes) => readonly Tensor[]): Promise<Uint8Array> {
  const tensors = tinyTensors(tinyShapes).flatMap((tensor, i) =>
    isPacked(tensor.name) ? make(tensor, codesFor(tensor.shape, i)) : [tensor],
  )
  const model: Model = { format: 'memory', metadata: new Map(), tensors, parts: [], files: [] }
  return (await convertToFiles(model, 'safetensors', { name: 'model.safetensors' })).get('model.safetensors')!
}

let [packed, plain] = ['', '']
beforeAll(async () => {
  const stem = (name: string): string => name.slice(0, -'.weight'.length)
  const inPieces = await weights(({ name }, codes) => gptqTensors(stem(name), codes))
  const whole = await weights(({ name, shape }, codes) => [tensorOf(name, 'f32', shape, valuesOf(codes))])
  packed = await writeTinyModel(join(scratch, 'packed', 'Tiny'), {
    config: { ...tinyConfig, quantization_config },
    files: { 'model.safetensors': inPieces },
  })
  plain = await writeTinyModel(join(scratch, 'plain', 'Tiny'), { files: { 'model.safetensors': whole } })
})

describe('packed weights', () => {
  it('are shown as what they are, and counted by their elements', async () => {
    const { stdout } = await runCli('inspect', packed)
    expect(stdout).toMatch(/packed +gptq 4-bit, group 4: 4 weights with 320 parameters/)
    const summaryOf = async (path: string): Promise<{ parameters: number; packing?: unknown }> =>
      JSON.parse((await runCli('inspect', '--json', path)).stdout).summary
    const [mine, twin] = [await summaryOf(packed), await summaryOf(plain)]
    expect(mine.parameters).toBe(twin.parameters)
    expect(mine.packing).toEqual([{ form: 'gptq 4-bit, group 4', weights: 4, parameters: 320 }])
    expect(twin.packing).toBeUndefined()
  })

  it('have the statistics of their values', async () => {
    const byName = async (path: string) => (await stats(path)).toSorted((a, b) => (a.name < b.name ? -1 : 1))
    expect(await byName(packed)).toEqual(await byName(plain))
    const { stdout } = await runCli('stats', packed, '--tensors', query)
    expect(stdout).toContain(query)
  })

  it('equal the same values as plain tensors, and themselves as they are stored', async () => {
    const tensorsOf = async (a: string, b: string) => {
      const { status, stdout } = await runCli('diff', '--json', '--tensors', '*', a, b)
      return [status, JSON.parse(stdout).summary.tensors.equal]
    }
    const count = Object.keys(tinyShapes).length
    expect(await tensorsOf(packed, plain)).toEqual([0, count])
    expect(await tensorsOf(plain, packed)).toEqual([0, count])
    expect(await tensorsOf(packed, packed)).toEqual([0, count + 3 * 4])
  })

  it('are extracted and read as floats', async () => {
    const [a, b] = [join(scratch, 'a.npy'), join(scratch, 'b.npy')]
    await runCli('extract', packed, query, '--as', 'f32', '-o', a)
    await runCli('extract', plain, query, '-o', b)
    expect(readFileSync(a)).toEqual(readFileSync(b))
    await using model = await openModel(packed)
    await using twin = await openModel(plain)
    const slice = '1:3,2:6'
    expect((await readTensor(model, query, { slice })).data).toEqual((await readTensor(twin, query, { slice })).data)
    const codes = await readTensor(model, query.replace('weight', 'qweight'))
    expect(codes.dtype).toBe('i32')
  })

  it('become plain weights on request, and the configuration says nothing else', async () => {
    const output = join(scratch, 'unpacked')
    const { status } = await runCli('convert', packed, '--dequantize', '--to', 'safetensors', '-o', `${output}/`)
    expect(status).toBe(0)
    expect(JSON.parse(readFileSync(join(output, 'config.json'), 'utf8'))).toEqual(tinyConfig)
    expect((await runCli('diff', '--tensors', '*', output, plain)).status).toBe(0)
  })

  it('stay packed where only some are wanted, or none', async () => {
    const output = join(scratch, 'some')
    await runCli('convert', packed, '--dequantize=*q_proj*', '--to', 'safetensors', '-o', `${output}/`)
    await using model = await openModel(output)
    const names = model.tensors.map(({ name }) => name)
    expect(names).toContain(query)
    expect(names).toContain('model.layers.0.mlp.gate_proj.qweight')
    expect(JSON.parse(readFileSync(join(output, 'config.json'), 'utf8'))).toHaveProperty('quantization_config')
    expect((await runCli('diff', '--tensors', '*', output, plain)).status).toBe(0)
  })

  it.each(['gguf', 'mcf'])('are the same weights in %s', async (format) => {
    const convert = async (path: string, name: string): Promise<string> => {
      const output = join(scratch, `${name}.${format}`)
      const how = format === 'gguf' ? ['--cast', 'f32'] : ['--dequantize']
      const { status, stderr } = await runCli('convert', path, ...how, '-o', output)
      expect(status, stderr).toBe(0)
      return output
    }
    const [mine, twin] = [await convert(packed, 'packed'), await convert(plain, 'plain')]
    if (format === 'gguf') expect(readFileSync(mine)).toEqual(readFileSync(twin))
    else expect((await runCli('diff', '--tensors', '*', mine, twin)).status).toBe(0)
  })

  it('is quantized only on request, from its values', async () => {
    const output = join(scratch, 'again.mcf')
    const method = ['--method', 'q8', '--tensor-method', '*=q8', '--json']
    const kept = await runCli('quantize', packed, '-o', output, ...method, '--dry-run')
    const choices = JSON.parse(kept.stdout).choices as { name: string; method?: string; reason?: string }[]
    const parts = choices.filter(({ name }) => name.includes('.0.self_attn.q_proj.'))
    const why = 'part of a weight that is gptq 4-bit, group 4 already: use --requantize'
    expect(parts.map(({ method, reason }) => [method, reason])).toEqual(parts.map(() => [undefined, why]))
    expect(parts.length).toBeGreaterThan(2)
    const again = await runCli('quantize', packed, '-o', output, ...method, '--requantize', '--report')
    const { quality } = JSON.parse(again.stdout) as { quality: { tensors: { name: string; from: string }[] } }
    const found = quality.tensors.find(({ name }) => name === query)
    expect(found).toMatchObject({ from: 'f32', to: 'mcf.q8' })
  })
})
