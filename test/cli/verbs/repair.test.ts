// A file that ends too early, through the command.
import { existsSync } from 'node:fs'
import { stat, writeFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { architecture, build, info, u32Entry } from '../../formats/gguf/build.js'
import { useTempDir } from '../../node/temp-dir.js'
import { convertToFiles } from '../../support/convert.js'
import { sampleModel, sampleTensor } from '../../support/sample-model.js'
import { runCli as tare } from '../run-cli.js'

const at = useTempDir()
const shapes = [[4, 16], [3], [2, 2, 8], [64], [5]]
const model = sampleModel(shapes.map((shape, i) => sampleTensor(`layer.${i}.weight`, 'f32', shape, i + 1)))

test('what is whole is saved, and what is not is listed', async () => {
  const [bytes] = [...(await convertToFiles(model, 'safetensors')).values()]
  await writeFile(at('half.safetensors'), bytes!.subarray(0, bytes!.byteLength - 100))
  const { status, stderr } = await tare('repair', at('half.safetensors'), '-o', at('saved.safetensors'))
  expect(status).toBe(0)
  expect(stderr).toContain('repaired  the 3 tensors that are whole are in a new file')
  expect(stderr).toMatch(/lost {6}"layer.3.weight" \(256 bytes\): /)
  expect(stderr).toMatch(/lost {6}"layer.4.weight" \(20 bytes\): /)
  expect((await tare('verify', at('saved.safetensors'))).status).toBe(0)
  const again = await tare('repair', '--json', at('half.safetensors'), '-o', at('saved.safetensors'))
  expect(JSON.parse(again.stdout).salvage).toMatchObject({ kept: 3, lost: [{ length: 256 }, { length: 20 }] })
})

test('an output that cannot be written, or is called like another format, is status 2', async () => {
  const [bytes] = [...(await convertToFiles(model, 'safetensors')).values()]
  await writeFile(at('half.safetensors'), bytes!.subarray(0, bytes!.byteLength - 100))
  const nowhere = await tare('repair', at('half.safetensors'), '-o', at('half.safetensors', 'saved.safetensors'))
  expect([nowhere.status, nowhere.stderr]).toEqual([2, expect.stringContaining('io/failed')])
  const misnamed = await tare('repair', at('half.safetensors'), '-o', at('saved.gguf'))
  expect([misnamed.status, misnamed.stderr]).toEqual([2, expect.stringContaining('this name says gguf')])
  expect(existsSync(at('saved.gguf'))).toBe(false)
})

test('a value that the reader refuses is not taken over', async () => {
  for (const entry of [u32Entry('general.alignment', 2 ** 31), u32Entry('general.alignment', 24)]) {
    const file = build({
      entries: [architecture, entry],
      infos: [info({ name: 'a' }), info({ name: 'b', offset: 32 })],
      data: 48,
    })
    await writeFile(at('refused.gguf'), file)
    const { status, stderr } = await tare('repair', at('refused.gguf'), '-o', at('saved.gguf'))
    expect([status, stderr]).toEqual([
      0,
      expect.stringContaining('lost      metadata "general.alignment": a power of two'),
    ])
    expect((await stat(at('saved.gguf'))).size).toBeLessThan(file.byteLength)
    expect((await tare('verify', '--strict', at('saved.gguf'))).status).toBe(0)
  }
})

test('tensors that share all of their bytes do not make a small file an endless one', async () => {
  const size = 4 << 20
  const infos = Array.from({ length: 40 }, (_, i) => info({ name: `t${i}`, dims: [size / 4] }))
  await writeFile(at('shared.gguf'), build({ infos, data: size }))
  const { status, stderr } = await tare('repair', at('shared.gguf'), '-o', at('saved.gguf'))
  expect([status, stderr]).toEqual([0, expect.stringContaining('many times the file')])
  expect((await stat(at('saved.gguf'))).size).toBeLessThan(17 * size)
  expect((await tare('verify', at('saved.gguf'))).status).toBe(0)
})
