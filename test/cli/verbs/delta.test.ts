import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { useTempDir } from '../../node/temp-dir.js'
import { runCli } from '../run-cli.js'

const at = useTempDir()
const fixture = (...names: string[]): string => join(import.meta.dirname, '../../../fixtures/delta', ...names)
const base = fixture('base.safetensors')
const next = fixture('new.safetensors')

const isSame = (a: string, b: string): boolean => Buffer.compare(readFileSync(a), readFileSync(b)) === 0

describe('delta and apply', () => {
  it('send a file instead of the new model', async () => {
    const made = await runCli('delta', base, next, '-o', at('u.safetensors'), '--json')
    expect(made).toMatchObject({ status: 0 })
    expect(JSON.parse(made.stdout)).toMatchObject({
      changed: 2,
      same: 1,
      encoding: 'tare',
      files: [at('u.safetensors')],
    })
    expect(await runCli('apply', base, at('u.safetensors'), '-o', at('n.safetensors'))).toMatchObject({ status: 0 })
    expect(isSame(at('n.safetensors'), next)).toBe(true)
    expect(await runCli('verify', at('u.safetensors'))).toMatchObject({ status: 0 })
  })

  it('make the directory that slime and ModelExpress read, with versions from its name', async () => {
    expect(await runCli('delta', base, next, '-o', `${at('weight_v000007')}/`)).toMatchObject({ status: 0 })
    const index = JSON.parse(readFileSync(at('weight_v000007', 'model.safetensors.index.json'), 'utf8'))
    expect(index.metadata).toMatchObject({
      ...{ version: '000007', base_version: '000006', delta_encoding: 'xor' },
      ...{ compression_format: 'zstd', checksum_format: 'adler32' },
    })
    const shard = 'model-00000-of-00001.safetensors'
    expect(index.weight_map).toEqual({ 'a.weight': shard, 'b.weight': shard })
    expect(await runCli('apply', base, at('weight_v000007'), '-o', at('n.safetensors'))).toMatchObject({ status: 0 })
    expect(isSame(at('n.safetensors'), next)).toBe(true)
  })

  it.each(['xor', 'overwrite'])('apply what others publish: %s', async (encoding) => {
    const ran = await runCli('apply', base, fixture(`public-${encoding}`), '-o', at('n.safetensors'), '--json')
    expect(ran).toMatchObject({ status: 0 })
    expect(JSON.parse(ran.stdout)).toMatchObject({ changed: 2, version: '000001', format: 'safetensors' })
    expect(isSame(at('n.safetensors'), next)).toBe(true)
    // Another base has other checksums afterwards, and nothing is written.
    const wrong = await runCli('apply', next, fixture(`public-${encoding}`), '-o', at('wrong.safetensors'))
    if (encoding === 'xor') expect(wrong).toMatchObject({ status: 1 })
    if (encoding === 'xor') expect(existsSync(at('wrong.safetensors'))).toBe(false)
  })

  it('refuse a public delta for a container with checksums of its own', async () => {
    expect(await runCli('convert', base, '-o', at('base.aero'))).toMatchObject({ status: 0 })
    const ran = await runCli('apply', at('base.aero'), fixture('public-xor'), '-o', at('n.aero'))
    expect(ran).toMatchObject({ status: 1 })
    expect(ran.stderr).toContain('delta/no-place')
  })

  it('take whole directories, with shards and configuration', async () => {
    for (const [name, from] of [
      ['a', base],
      ['b', next],
    ] as const) {
      mkdirSync(at(name))
      expect(await runCli('convert', from, '-o', `${at(name)}/`, '--shard-size', '800')).toMatchObject({ status: 0 })
      writeFileSync(at(name, 'config.json'), `{"model_type": "llama", "step": ${name === 'a' ? 1 : 22}}`)
    }
    expect(await runCli('delta', at('a'), at('b'), '-o', at('u.safetensors'))).toMatchObject({ status: 0 })
    expect(await runCli('apply', at('a'), at('u.safetensors'), '-o', at('n.safetensors'))).toMatchObject({ status: 2 })
    expect(await runCli('apply', at('a'), at('u.safetensors'), '-o', `${at('n')}/`)).toMatchObject({ status: 0 })
    expect(readdirSync(at('n')).sort()).toEqual(readdirSync(at('b')).sort())
    for (const file of readdirSync(at('b'))) expect(isSame(at('n', file), at('b', file)), file).toBe(true)
  })

  it('say what is wrong', async () => {
    expect(await runCli('delta', base, '-o', at('u.safetensors'))).toMatchObject({ status: 2 })
    expect(await runCli('delta', base, next)).toMatchObject({ status: 2 })
    expect(await runCli('delta', base, at('nosuch'), '-o', at('u.safetensors'))).toMatchObject({ status: 2 })
    expect(await runCli('delta', base, next, '-o', at('u.safetensors'), '--level', '40')).toMatchObject({ status: 2 })
    expect(await runCli('apply', base, next, '-o', at('n.safetensors'))).toMatchObject({ status: 1 })
    await runCli('delta', base, next, '-o', at('u.safetensors'))
    const named = await runCli('apply', base, at('u.safetensors'), '-o', at('n.gguf'))
    expect(named).toMatchObject({ status: 2 })
    expect(existsSync(at('n.gguf'))).toBe(false)
  })
})
