// Blocks that two containers hold alike go over as they are: the plan calls it a change of form, and decoded values keep every bit.
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { useTempDir } from '../../node/temp-dir.js'
import { fixturesRoot } from '../../support/fixtures.js'
import { runCli as tare } from '../run-cli.js'

const at = useTempDir()
const gguf = (name: string): string => join(fixturesRoot, 'gguf', name)

interface Action {
  readonly subject: string
  readonly name: string
  readonly action: string
  readonly loss: string
}

/** What is planned for the tensors that are blocks, and what comes of them. */
async function convert(input: string, output: string, ...flags: string[]): Promise<Action[]> {
  const plan = await tare('convert', input, '-o', output, '--dry-run', '--json', ...flags)
  expect((await tare('convert', input, '-o', output, ...flags)).status).toBe(0)
  return JSON.parse(plan.stdout).actions.filter(({ subject }: Action) => subject === 'tensor')
}

interface Hashed {
  readonly name: string
  readonly digest: string
  readonly dtype: string
}

async function digests(input: string, ...flags: string[]): Promise<Map<string, string>> {
  const { tensors } = JSON.parse((await tare('hash', '--json', ...flags, input)).stdout) as { tensors: Hashed[] }
  return new Map(tensors.map(({ name, digest }) => [name, digest]))
}

async function typesOf(input: string): Promise<string[]> {
  const { tensors } = JSON.parse((await tare('inspect', '--json', input)).stdout)
  return tensors.map(({ dtype, encoding }: { dtype: string; encoding?: string }) => encoding ?? dtype)
}

describe.each(['types-legacy', 'types-k', 'types-iq', 'types-ternary-fp4'])('%s.gguf', (name) => {
  test('is packed into AERO and comes back with the same bytes', async () => {
    const input = gguf(`${name}.gguf`)
    const there = await convert(input, at('m.aero'))
    expect(new Set(there.map(({ action, loss }) => `${action} ${loss}`))).toEqual(new Set(['map form']))
    expect(await typesOf(at('m.aero'))).toEqual(await typesOf(input))
    const back = await convert(at('m.aero'), at('m.gguf'))
    expect(new Set(back.map(({ action, loss }) => `${action} ${loss}`))).toEqual(new Set(['map form']))
    for (const flags of [[], ['--decoded']]) {
      const wanted = await digests(input, ...flags)
      expect(await digests(at('m.aero'), ...flags)).toEqual(wanted)
      expect(await digests(at('m.gguf'), ...flags)).toEqual(wanted)
    }
  })
})

test('blocks that the reference of AERO took from GGUF go back with their dimensions the right way round', async () => {
  const input = join(fixturesRoot, 'aero', 'valid', 'from-gguf.aero')
  const actions = await convert(input, at('m.gguf'))
  expect(actions.every(({ loss }) => loss === 'form' || loss === 'none')).toBe(true)
  const { tensors } = JSON.parse((await tare('inspect', '--json', at('m.gguf'))).stdout)
  const found = tensors.map(({ dtype, shape }: { dtype: string; shape: number[] }) => `${dtype} ${shape.join('x')}`)
  expect(found).toEqual(['ggml.q4_0 4x64', 'ggml.q8_0 3x32', 'f32 64', 'ggml.q6_k 2x256', 'f16 3x64'])
  expect(await digests(at('m.gguf'), '--decoded')).toEqual(await digests(input, '--decoded'))
})

describe('Q8_0 and MCF q8', () => {
  test('GGUF to MCF and back keeps codes and scales', async () => {
    const input = gguf('types-legacy.gguf')
    const name = 'blk.4.ffn_down.weight'
    const there = await convert(input, at('m.mcf'), '--only', name)
    expect(there).toContainEqual(expect.objectContaining({ name, action: 'map', loss: 'form' }))
    expect(await typesOf(at('m.mcf'))).toEqual(['mcf.q8'])
    expect((await tare('verify', at('m.mcf'))).status).toBe(0)
    const back = await convert(at('m.mcf'), at('m.gguf'))
    expect(back).toContainEqual(expect.objectContaining({ name, action: 'map', loss: 'form' }))
    const wanted = await digests(input)
    expect((await digests(at('m.gguf'))).get(name)).toBe(wanted.get(name))
    const decoded = (await digests(input, '--decoded')).get(name)
    expect((await digests(at('m.mcf'), '--decoded')).get(name)).toBe(decoded)
  })

  test('MCF to GGUF: rows of whole blocks keep theirs, others are decoded, with the same values', async () => {
    const input = join(fixturesRoot, 'mcf', 'quant-q8.mcf')
    const actions = await convert(input, at('m.gguf'))
    const byName = new Map(actions.map(({ name, action }) => [name, action]))
    expect([byName.get('a.mult256'), byName.get('b.mult32'), byName.get('c.odd77')]).toEqual([
      'map',
      'map',
      'dequantize',
    ])
    expect(await digests(at('m.gguf'), '--decoded')).toEqual(await digests(input, '--decoded'))
  })

  test('types that ggml does not have are decoded, never dropped', async () => {
    const input = join(fixturesRoot, 'mcf', 'quant-k4.mcf')
    const actions = await convert(input, at('m.gguf'))
    expect(actions.filter(({ action }) => action === 'drop')).toEqual([])
    expect(await digests(at('m.gguf'), '--decoded')).toEqual(await digests(input, '--decoded'))
  })
})
