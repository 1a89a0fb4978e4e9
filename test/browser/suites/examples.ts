import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, it } from 'vitest'
import { readTensor } from '../../../src/api/read-tensor.js'
import { hashModel, MemorySink, MemorySource, openModel, planQuantization, writeLayout } from '../../../src/kit.js'
import { convertToFiles } from '../../support/convert.js'
import type { Use } from '../site.js'

const file = (name: string): string => resolve(import.meta.dirname, '../../..', name)
const model = () =>
  openModel(new MemorySource(readFileSync(file('examples/tiny-mlp.safetensors')), 'tiny-mlp.safetensors'))

/** The blocks of docs/browser.md, each called as its text says. */
export function exampleSuite({ page }: Use): void {
  const tried = new Set<string>()
  /** `work` is an expression with the `example` and a `file`. */
  const run = (name: string, work: string): Promise<unknown> => {
    tried.add(name)
    return page().evaluate(`(async () => {
      const blob = await (await fetch('/files/tiny-mlp.safetensors')).blob()
      const file = new File([blob], 'tiny-mlp.safetensors')
      const example = await import('/page/example-${name}.js')
      const digest = async (blob) => crypto.subtle.digest('SHA-256', await blob.arrayBuffer())
        .then((bytes) => Array.from(new Uint8Array(bytes), (byte) => byte.toString(16).padStart(2, '0')).join(''))
      return ${work}
    })()`)
  }

  it('open-file', async () => {
    const { fingerprint } = await hashModel(await model())
    expect(await run('open-file', 'example.look(file)')).toEqual([
      'layers.0.weight f32 [32,64]',
      'layers.0.bias f32 [32]',
      'layers.1.weight f32 [10,32]',
      'layers.1.bias f32 [10]',
      fingerprint,
    ])
    const cut = await run('open-file', 'example.look(file.slice(0, 9000))')
    expect(cut).toContainEqual(expect.stringMatching(/^safetensors\/[a-z-]+ @ \d+: /))
  })

  it('open-address', async () => {
    const { data } = await readTensor(await model(), 'layers.1.weight', { slice: '0:1' })
    const work = "Array.from(await example.firstValues('/files/tiny-mlp.safetensors', 'layers.1.weight'))"
    expect(await run('open-address', work)).toEqual([...data])
  })

  it('convert-in-memory', async () => {
    const [bytes] = (await convertToFiles(await model(), 'gguf', { name: 'model.gguf', cast: 'f16' })).values()
    const size = await run('convert-in-memory', '(await example.toGguf(file)).size')
    expect(size).toBe(bytes!.byteLength)
  })

  it('convert-to-file', async () => {
    const name = 'model.mcf'
    const { layout } = await planQuantization(await model(), 'mcf', { name, method: 'k6', everyMatrix: true })
    const sink = new MemorySink(name)
    await writeLayout(layout, async () => sink)
    const found = await run(
      'convert-to-file',
      `(async () => {
        const folder = await navigator.storage.getDirectory()
        const handle = await folder.getFileHandle('${name}', { create: true })
        await example.quantizeTo(handle, file)
        return digest(await handle.getFile())
      })()`,
    )
    expect(found).toBe(createHash('sha256').update(sink.bytes).digest('hex'))
  })

  it('use-workers', async () => {
    const { fingerprint } = await hashModel(await model(), { algorithm: 'sha256' })
    expect(await run('use-workers', 'example.fingerprintOf(file)')).toBe(fingerprint)
  })

  it('start-worker', async () => {
    const job = `{ kind: 'nonsense', data: 0, file: 'f', offset: 7 }`
    const answer = await run(
      'start-worker',
      `(async () => {
        const pool = example.openPool()
        const { finding } = await pool.run(${job}).catch((error) => error)
        await pool.close()
        return [finding.code, finding.offset, finding.path]
      })()`,
    )
    // The worker lives and says that it does not know this kind of work.
    expect(answer).toEqual(['pool/failed', 7, 'nonsense'])
  })

  it('cookbook', async () => {
    expect(await run('list-in-browser', 'example.list(file)')).toContain('layers.1.weight f32 10x32')
    const [bytes] = (await convertToFiles(await model(), 'gguf', { name: 'model.gguf', cast: 'f16' })).values()
    expect(await run('convert-in-browser', '(await example.toGguf(file)).size')).toBe(bytes!.byteLength)
  })

  it('are all run', () => {
    const names = [...readFileSync(file('docs/browser.md'), 'utf8').matchAll(/```ts\n\/\/ ([a-z-]+)\.ts\n/g)]
    const cookbook = readdirSync(file('examples/cookbook')).filter((name) => name.endsWith('-in-browser.mjs'))
    expect([...tried].sort()).toEqual(
      [...names.map(([, name]) => name!), ...cookbook.map((name) => name.replace('.mjs', ''))].sort(),
    )
  })
}
