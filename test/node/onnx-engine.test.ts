import { existsSync, readFileSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { failWith, ioCodes } from '../../src/errors/index.js'
import { bytesPayload, lazyPayload, type OnnxRuntime } from '../../src/kit.js'
import { nodeOnnxEngine } from '../../src/node/onnx-engine.js'
import { useTempDir } from './temp-dir.js'

const inFolder = useTempDir()
const large = new Uint8Array(5 << 20).map((_, i) => i % 251)

/** Folders for temporary files have another variable on each system. */
function useFolder(path: string): void {
  for (const name of ['TMPDIR', 'TEMP', 'TMP']) vi.stubEnv(name, path)
}
afterEach(() => vi.unstubAllEnvs())

async function engineWith(create: OnnxRuntime['InferenceSession']['create'], threads?: number) {
  const Tensor = class {} as OnnxRuntime['Tensor']
  return nodeOnnxEngine({ threads, load: async () => ({ InferenceSession: { create }, Tensor }) })
}

const session = { run: async () => ({}) }

describe('the runtime gets', () => {
  it('a large file by its path, and nothing stays of it', async () => {
    const folder = inFolder()
    useFolder(folder)
    let path = ''
    const engine = await engineWith(async (model) => {
      path = model as string
      expect(readFileSync(path).equals(large)).toBe(true)
      return session
    })
    await engine.load(bytesPayload(large))
    expect(path.startsWith(folder)).toBe(true)
    expect(existsSync(path)).toBe(false)
  })

  it.each([
    [2, 2],
    [99_999_999_999, 256],
  ])('of %i threads no more than a machine could use', async (asked, given) => {
    const engine = await engineWith(async (_, settings) => {
      expect(settings).toMatchObject({ intraOpNumThreads: given })
      return session
    }, asked)
    await engine.load(bytesPayload(large.subarray(0, 1000)))
  })

  it('a small one in memory', async () => {
    const engine = await engineWith(async (model) => {
      expect(model).toEqual(large.subarray(0, 1000))
      return session
    })
    await engine.load(bytesPayload(large.subarray(0, 1000)))
  })

  it('a large one in memory, too, where no file can be made', async () => {
    useFolder(inFolder('missing'))
    const engine = await engineWith(async (model) => {
      expect(Buffer.from(model as Uint8Array).equals(large)).toBe(true)
      return session
    })
    await engine.load(bytesPayload(large))
  })
})

describe('no file is left', () => {
  it('when the runtime refuses it', async () => {
    const folder = inFolder()
    useFolder(folder)
    const engine = await engineWith(() => Promise.reject(new Error('no')))
    await expect(engine.load(bytesPayload(large))).rejects.toMatchObject({ code: 'embed/engine-failed' })
    expect(await readdir(folder)).toEqual([])
  })

  it('when the model cannot be read', async () => {
    const folder = inFolder()
    useFolder(folder)
    const engine = await engineWith(() => expect.fail('there is nothing to load'))
    const cut = lazyPayload(large.byteLength, async function* () {
      yield large.subarray(0, 1 << 20)
      failWith(ioCodes.failed, { file: 'model.weights', message: 'the disk is broken' })
    })
    await expect(engine.load(cut)).rejects.toMatchObject({ code: 'io/failed' })
    expect(await readdir(folder)).toEqual([])
  })
})
