// The commands around it: exit status, what is said, and JSON.
import { readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { formats } from '../../src/kit.js'
import { runCli as tare } from '../cli/run-cli.js'
import { useTempDir } from '../node/temp-dir.js'
import { convertToFiles } from '../support/convert.js'
import { sampleModel, sampleTensor } from '../support/sample-model.js'

const at = useTempDir()
const sample = sampleModel(['a', 'b', 'c'].map((name, i) => sampleTensor(name, 'f32', [20 + i, 5], i + 1)))

describe('repair', () => {
  const cut: readonly (readonly [format: string, name: string, cut: number, kept: number, lost: readonly string[]])[] =
    [
      ['safetensors', 'm.safetensors', 20, 2, ['c']],
      ['npz', 'm.npz', 700, 2, ['c']],
      ['mcf', 'm.mcf', 20, 3, []],
    ]

  test.each(cut)('of %s tells what it saved and what it did not', async (format, name, missing, kept, lost) => {
    const [bytes] = [...(await convertToFiles(sample, format, { name })).values()]
    await writeFile(at(name), bytes!.subarray(0, bytes!.byteLength - missing))
    const { status, stdout } = await tare('repair', '--json', at(name), '-o', at(`saved-${name}`))
    expect(status).toBe(0)
    const said = JSON.parse(stdout)
    expect(said).toMatchObject({ file: at(name), format, files: [at(`saved-${name}`)] })
    expect(said.salvage.kept).toBe(kept)
    const named = said.salvage.lost.filter(({ subject }: { subject: string }) => subject === 'tensor')
    expect(named.flatMap(({ name: each }: { name?: string }) => each ?? [])).toEqual(lost)
    expect(said.size).toBe((await readFile(at(`saved-${name}`))).byteLength)
    expect((await tare('verify', at(`saved-${name}`))).status).toBe(0)
  })

  test('has status 1 when nothing can be saved, and says why', async () => {
    const [bytes] = [...(await convertToFiles(sample, 'mcf', { name: 'm.mcf' })).values()]
    await writeFile(at('m.mcf'), bytes!.subarray(0, 300))
    const { status, stderr } = await tare('repair', at('m.mcf'), '-o', at('saved.mcf'))
    expect(status).toBe(1)
    expect(stderr).toContain('their names, types and shapes are gone')
    await expect(readFile(at('saved.mcf'))).rejects.toThrow()
  })

  test('of a format that cannot be written takes an output of another', async () => {
    const folder = fileURLToPath(new URL('../../fixtures/dcp/damaged/cut-distcp', import.meta.url))
    const refused = await tare('repair', folder, '-o', at('saved.distcp'))
    expect([refused.status, refused.stderr]).toEqual([2, expect.stringContaining('the extension of another format')])
    expect((await tare('repair', folder, '-o', at('saved.safetensors'))).status).toBe(0)
  })

  test('has help that says for every format what can be repaired, and so does its page', async () => {
    const { stdout } = await tare('repair', '--help')
    const flat = stdout.replace(/\s+/g, ' ')
    const page = await readFile(new URL('../../docs/repair.md', import.meta.url), 'utf8')
    const weights = formats.filter(({ repairs }) => repairs !== undefined)
    expect(weights.length).toBe(formats.length - 1)
    for (const { title, repairs } of weights) {
      expect(flat).toContain(`${title}: ${repairs}`)
      expect(page, title).toContain(`\n| ${title} `)
    }
  })
})

describe('edit', () => {
  test.each([
    ['mcf', 'm.mcf'],
    ['aero', 'm.aero'],
  ])('of %s is made in place, and says so', async (format, name) => {
    const [bytes] = [...(await convertToFiles(sample, format, { name })).values()]
    await writeFile(at(name), bytes!)
    const dry = await tare('edit', at(name), '--set', `author=${'x'.repeat(400)}`, '--dry-run')
    expect(dry.stdout).toMatch(
      /would be changed in place: [\d ,]+ bytes in \d+ places?, the weights stay where they are/,
    )
    const { status, stdout } = await tare('edit', '--json', at(name), '--set', `author=${'x'.repeat(400)}`)
    expect([status, JSON.parse(stdout).how]).toEqual([0, expect.stringMatching(/^(patched|cloned)$/)])
    expect((await tare('verify', at(name))).status).toBe(0)
    expect((await tare('edit', '--json', at(name), '--set', `author=${'x'.repeat(400)}`)).stdout).toContain('unchanged')
  })
})
