import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  convert,
  diff,
  hash,
  inspect,
  isTareError,
  MemorySink,
  openModel,
  openOutput,
  planConversion,
  repair,
  runConversion,
  stats,
  type TareCode,
  verify,
  writeModel,
} from '../../src/node.js'
import { useTempDir } from '../node/temp-dir.js'

const path = resolve(import.meta.dirname, '../../examples/tiny-mlp.safetensors')
const temp = useTempDir()
const codeOf = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error: unknown) => (isTareError(error) ? (error.code as TareCode) : error),
  )

describe('convert', () => {
  it('writes to a path, to a sink and to memory, the same bytes', async () => {
    const options = { to: 'gguf', cast: 'f16', name: 'm.gguf' } as const
    const { plan, files } = await convert(path, temp('m.gguf'), { cast: 'f16' })
    expect(plan.target).toBe('gguf')
    expect(files).toMatchObject([{ name: temp('m.gguf'), size: plan.size }])
    const sink = new MemorySink('m.gguf')
    await convert(path, async () => sink, options)
    const memory = await convert(path, undefined, options)
    const written = new Uint8Array(readFileSync(temp('m.gguf')))
    expect(new Uint8Array(sink.bytes)).toEqual(written)
    expect(new Uint8Array(memory.files[0]!.bytes)).toEqual(written)
  })

  it('selects, renames and sets', async () => {
    const { files } = await convert(path, undefined, {
      to: 'safetensors',
      only: ['*.weight'],
      rename: { 'layers.0.weight': 'first' },
      set: { author: 'me' },
    })
    const model = await openModel(files[0]!.bytes)
    expect(model.tensors.map(({ name }) => name).toSorted()).toEqual(['first', 'layers.1.weight'])
    expect(model.metadata.get('author')).toMatchObject({ value: 'me' })
  })

  it('makes a directory for an output that is one', async () => {
    const { files } = await convert(path, `${temp('new')}/`)
    expect(files[0]!.name).toBe(temp('new/model.safetensors'))
    expect((await inspect(temp('new'))).tensors).toHaveLength(4)
  })

  it('writes nothing when something would be lost', async () => {
    const content = { tensors: { w: { shape: [1], data: Float32Array.of(1) } }, metadata: { author: 'me' } }
    const { files } = await writeModel(content, undefined, { to: 'safetensors' })
    expect(await codeOf(convert(files[0]!.bytes, temp('lost.npz'), { stow: false }))).toBe('write/loss-refused')
    expect(readdirSync(temp('.'))).toEqual([])
  })

  it('refuses to write over its input, or over anything with overwrite: false', async () => {
    writeFileSync(temp('in.safetensors'), readFileSync(path))
    expect(await codeOf(convert(temp('in.safetensors'), temp('in.safetensors')))).toBe('io/exists')
    expect(await codeOf(convert(path, temp('in.safetensors'), { overwrite: false }))).toBe('io/exists')
    expect(readFileSync(temp('in.safetensors'))).toEqual(readFileSync(path))
  })

  it('asks for a format where nothing says it', async () => {
    expect(await codeOf(convert(path, temp('model')))).toBe('usage/option')
    expect(await codeOf(convert(path, undefined, {} as never))).toBe('usage/option')
  })

  it('stops when it is told to', async () => {
    expect(await codeOf(convert(path, temp('stopped.gguf'), { signal: AbortSignal.abort() }))).toBe('io/aborted')
    expect(existsSync(temp('stopped.gguf'))).toBe(false)
  })

  it('plans first, where that is wanted', async () => {
    const model = await openModel(path)
    const conversion = await planConversion(model, 'gguf', { quantize: { method: 'q8_0', everyMatrix: true } })
    expect(conversion.plan.actions.some(({ action }) => action === 'quantize')).toBe(true)
    await runConversion(conversion, () => openOutput(temp('planned.gguf')), { allowLoss: 'precision' })
    expect((await verify(temp('planned.gguf'))).verdict).toBe('ok')
    await model.close()
  })
})

describe('questions in one call', () => {
  it('answers for inputs and for open models alike', async () => {
    const model = await openModel(path)
    expect(await hash(model)).toEqual(await hash(path))
    expect(await inspect(model)).toEqual(await inspect(path))
    expect((await inspect(path)).summary).toMatchObject({ parameters: 2410, bitsPerWeight: 32 })
    expect(await stats(model, { only: ['*.bias'] })).toMatchObject([
      { name: 'layers.0.bias' },
      { name: 'layers.1.bias' },
    ])
    expect((await diff(model, readFileSync(path))).equal).toBe(true)
    await model.close()
  })

  it('finds what is wrong', async () => {
    const cut = readFileSync(path).subarray(0, 9000)
    const { verdict, findings } = await verify(cut, { name: 'cut.safetensors' })
    expect(verdict).toBe('errors')
    expect(findings[0]).toMatchObject({ code: 'safetensors/past-end', file: 'cut.safetensors' })
  })

  it('saves what is whole', async () => {
    const cut = readFileSync(path).subarray(0, 9000)
    const { salvage, lost } = await repair(cut, temp('saved.safetensors'), { name: 'cut.safetensors' })
    expect([salvage?.kept, lost.length]).toEqual([2, 2])
    const { files } = await repair(cut, undefined, { name: 'cut.safetensors' })
    expect(Buffer.from(files[0]!.bytes)).toEqual(readFileSync(temp('saved.safetensors')))
    expect((await verify(temp('saved.safetensors'))).verdict).toBe('ok')
  })
})
