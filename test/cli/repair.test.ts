// A file that ends too early, through the command.
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { useTempDir } from '../node/temp-dir.js'
import { convertToFiles } from '../support/convert.js'
import { sampleModel, sampleTensor } from '../support/sample-model.js'
import { runCli as tare } from './run-cli.js'

const at = useTempDir()
const shapes = [[4, 16], [3], [2, 2, 8], [64], [5]]
const model = sampleModel(shapes.map((shape, i) => sampleTensor(`layer.${i}.weight`, 'f32', shape, i + 1)))

test('what is whole is saved, and what is not is listed', async () => {
  const [bytes] = [...(await convertToFiles(model, 'safetensors')).values()]
  await writeFile(at('half.safetensors'), bytes!.subarray(0, bytes!.byteLength - 100))
  const { status, stderr } = await tare('repair', at('half.safetensors'), '-o', at('saved.safetensors'))
  expect(status).toBe(0)
  expect(stderr).toContain('mended  the 3 tensors that are whole are in a new file')
  expect(stderr).toMatch(/lost {4}"layer.3.weight" \(256 bytes\): /)
  expect(stderr).toMatch(/lost {4}"layer.4.weight" \(20 bytes\): /)
  expect((await tare('verify', at('saved.safetensors'))).status).toBe(0)
  const again = await tare('repair', '--json', at('half.safetensors'), '-o', at('saved.safetensors'))
  expect(JSON.parse(again.stdout).salvage).toMatchObject({ kept: 3, lost: [{ length: 256 }, { length: 20 }] })
})

test('an output that cannot be written, or is called like another format, is status 2', async () => {
  const [bytes] = [...(await convertToFiles(model, 'safetensors')).values()]
  await writeFile(at('half.safetensors'), bytes!.subarray(0, bytes!.byteLength - 100))
  const nowhere = await tare('repair', at('half.safetensors'), '-o', at('none', 'saved.safetensors'))
  expect([nowhere.status, nowhere.stderr]).toEqual([2, expect.stringContaining('io/not-found')])
  const misnamed = await tare('repair', at('half.safetensors'), '-o', at('saved.gguf'))
  expect([misnamed.status, misnamed.stderr]).toEqual([2, expect.stringContaining('this name says gguf')])
  expect(existsSync(at('saved.gguf'))).toBe(false)
})
