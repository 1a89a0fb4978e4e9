import { describe, expect, test } from 'vitest'
import { useTempDir } from '../node/temp-dir.js'
import { runCli as tare } from './run-cli.js'

const at = useTempDir()
const sample = new URL('../../examples/tiny-mlp.safetensors', import.meta.url).pathname
const settings = ['--set', 'a:u32=4', '--set', 'b:[f32]=0.5,1', '--set', 'c:d=5', '--set', 'e:bool=true']

const metadataOf = async (file: string) =>
  JSON.parse((await tare('inspect', '--json', '--metadata', file)).stdout).metadata
const typed = {
  a: { type: 'u32', value: 4 },
  'c:d': { type: 'str', value: '5' },
  e: { type: 'bool', value: true },
}

describe('types of metadata', () => {
  test.each<[string, string[]]>([
    ['convert', []],
    ['quantize', ['--method', 'q8_0']],
  ])('%s sets them', async (verb, flags) => {
    await tare(verb, sample, '-o', at('out.gguf'), ...settings, ...flags)
    expect(await metadataOf(at('out.gguf'))).toMatchObject({ a: typed.a, 'c:d': typed['c:d'], e: typed.e })
  })

  test('edit sets them, and shows numbers as numbers', async () => {
    await tare('convert', sample, '-o', at('out.gguf'))
    const { status, stderr } = await tare('edit', at('out.gguf'), ...settings)
    expect(status).toBe(0)
    expect(stderr).toContain('  add a = 4 (u32)\n  add b = 0.5,1 ([f32])\n  add c:d = "5"\n  add e = true (bool)\n')
    expect(await metadataOf(at('out.gguf'))).toMatchObject({ a: typed.a, 'c:d': typed['c:d'], e: typed.e })
    const kept = await tare('edit', at('out.gguf'), '--set', 'a=7')
    expect(kept.stderr).toContain('  set a = 7 (u32)\n')
    const other = await tare('edit', at('out.gguf'), '--set', 'a:str=7')
    expect(other.stderr).toContain('  set a = "7"\n')
    expect((await metadataOf(at('out.gguf'))).a).toEqual({ type: 'str', value: '7' })
  })

  test.each(['f33', 'int', '[uint32]', 'boolean'])('a type that does not exist is refused: %s', async (type) => {
    const { status, stderr } = await tare('convert', sample, '-o', at('out.gguf'), '--set', `k:${type}=1`)
    expect([status, stderr]).toEqual([2, expect.stringContaining('there are u8, u16')])
    const meant = await tare('convert', sample, '-o', at('out.gguf'), '--set', `k:${type}:str=1`)
    expect(meant.status).toBe(0)
    expect((await metadataOf(at('out.gguf')))[`k:${type}`]).toEqual({ type: 'str', value: '1' })
  })

  test('a value that is none of the type is refused', async () => {
    await tare('convert', sample, '-o', at('out.gguf'))
    const edited = await tare('edit', at('out.gguf'), '--set', 'a:u8=256')
    expect(edited).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('256 does not fit u8, which holds 0 to 255'),
    })
    const converted = await tare('convert', sample, '-o', at('x.gguf'), '--set', 'a:u8=256')
    expect(converted).toMatchObject({ status: 2, stderr: expect.stringContaining('256 does not fit u8') })
  })

  test('a format without types has text, and convert brings the type back', async () => {
    await tare('convert', sample, '-o', at('a.safetensors'), ...settings)
    expect((await metadataOf(at('a.safetensors'))).a).toEqual({ type: 'str', value: '4' })
    await tare('convert', at('a.safetensors'), '-o', at('b.gguf'))
    expect((await metadataOf(at('b.gguf'))).a).toEqual(typed.a)
    const { stderr } = await tare('edit', sample, '--set', 'a:u32=4', '-o', at('c.safetensors'))
    expect(stderr).toContain('  add a = "4"\n')
  })
})
