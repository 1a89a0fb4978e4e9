// Which type a file gets, by option, by name and by content; and what the types with little room leave out.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { runCli as tare } from '../../cli/run-cli.js'
import { useTempDir } from '../../node/temp-dir.js'
import { fixturePath } from '../../support/fixtures.js'
import { key, modelFile, parameter, tensor } from './build.js'

const at = useTempDir()
const fixture = (file: string): string => fixturePath('primitiv', file)
const typeOf = (file: string): number => readFileSync(file).readUInt32BE(11) / 0x100
const types = { shape: 0, tensor: 1, parameter: 2, model: 3, optimizer: 4 }

interface Ran {
  readonly status: number
  readonly plan: {
    readonly loss: string
    readonly notes: string[]
    readonly actions: { loss: string; reason?: string }[]
  }
  readonly message: string | undefined
}

async function convert(...args: string[]): Promise<Ran> {
  const { status, stdout } = await tare('convert', '--json', '--to', 'primitiv', ...args)
  const answer = JSON.parse(stdout)
  return { status, plan: answer, message: answer.error?.message }
}

describe('a type without room', () => {
  it('for values is refused unless that is allowed', async () => {
    const refused = await convert(fixture('model_single.model'), '--file-type', 'shape', '-o', at('a.primitiv'))
    expect([refused.status, existsSync(at('a.primitiv'))]).toEqual([1, false])
    expect(refused.message).toContain('a Shape file holds no values')
    const args = ['--file-type', 'shape', '--allow-loss', '-o', at('a.primitiv')]
    const allowed = await convert(fixture('model_single.model'), ...args)
    expect([allowed.status, allowed.plan.loss]).toEqual([0, 'content'])
    expect(typeOf(at('a.primitiv'))).toBe(types.shape)
    expect((await tare('diff', fixture('model_single.model'), at('a.primitiv'))).status).toBe(1)
  })

  it.each(['tensor', 'parameter'] as const)('for a name says so: %s', async (type) => {
    const { status, plan } = await convert(fixture('model_single.model'), '--file-type', type, '-o', at('b.primitiv'))
    expect([status, plan.loss, typeOf(at('b.primitiv'))]).toEqual([0, 'form', types[type]])
    expect(plan.actions[0]!.reason).toMatch(/has no place for the name$/)
  })

  it('for statistics is refused unless that is allowed', async () => {
    const args = [fixture('param_mat3x4_adam.param'), '--file-type', 'tensor', '-o', at('c.primitiv')]
    expect((await convert(...args)).message).toContain('a Tensor file cannot store statistics')
    expect((await convert(...args, '--allow-loss')).plan.loss).toBe('content')
    expect(typeOf(at('c.primitiv'))).toBe(types.tensor)
  })

  it('loses nothing of a tensor that has no name', async () => {
    const { plan } = await convert(fixture('tensor_3d_2x3x4.tensor'), '--file-type', 'tensor', '-o', at('d.primitiv'))
    expect(plan.loss).toBe('none')
    expect(readFileSync(at('d.primitiv'))).toEqual(readFileSync(fixture('tensor_3d_2x3x4.tensor')))
  })
})

describe('the name of the output', () => {
  it.each([
    ['model_single.model', 'x.param', types.parameter],
    ['model_single.model', 'x.tensor', types.tensor],
    ['model_single.model', 'x.model', types.model],
    ['model_single.model', 'x.primitiv', types.model],
    ['param_scalar.param', 'x.primitiv', types.parameter],
    ['param_scalar.param', 'X.TENSOR', types.tensor],
    ['opt_adam.optimizer', 'x.optimizer', types.optimizer],
  ])('chooses the type: %s as %s', async (file, name, type) => {
    expect((await convert(fixture(file), '-o', at(name))).status).toBe(0)
    expect(typeOf(at(name))).toBe(type)
  })

  it('keeps statistics of a parameter with their parameter', async () => {
    const stats: [string, Uint8Array][] = [
      ['Adam.m2', tensor([2])],
      ['Adam.m1', tensor([2])],
    ]
    writeFileSync(at('w.model'), modelFile([key('sub', 'w'), parameter([2], stats)]))
    expect((await convert(at('w.model'), '-o', at('w.param'))).plan.loss).toBe('form')
    const { tensors } = JSON.parse((await tare('inspect', '--json', at('w.param'))).stdout)
    expect(tensors.map(({ name }: { name: string }) => name)).toEqual(['', '#Adam.m2', '#Adam.m1'])
  })

  it.each([
    ['model_nested_adam.model', 'y.param', /holds one tensor, not 8; choose one with --only/],
    ['model_single.model', 'y.optimizer', /has no settings of an optimizer/],
    ['opt_adam.optimizer', 'y.param', /holds one tensor, and there is none/],
    ['shape_3d.shape', 'y.param', /holds one tensor, and there is none/],
    ['model_single.model', 'y.shape', /holds no values/],
  ])('refuses what the type cannot be: %s as %s', async (file, name, message) => {
    const ran = await convert(fixture(file), '-o', at(name))
    expect([ran.status, existsSync(at(name))]).toEqual([1, false])
    expect(ran.message).toMatch(message)
  })

  it.each([
    ['param_scalar.param', types.parameter, /becomes a Parameter file, .* no tensor without a name/],
    ['shape_3d.shape', types.shape, /becomes a Shape file/],
    ['opt_adam.optimizer', types.optimizer, /becomes an Optimizer file, .* no settings/],
  ])('.model does not choose where no Model could hold it, and that is said: %s', async (file, type, note) => {
    const { status, plan } = await convert(fixture(file), '-o', at('z.model'))
    expect([status, plan.loss, typeOf(at('z.model'))]).toEqual([0, 'none', type])
    expect(plan.notes).toEqual([expect.stringMatching(note)])
  })
})
