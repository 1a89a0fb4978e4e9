// A directory that many machines wrote, as a user meets it: looked at, verified and merged into one file.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { fixturePath, loadCases } from '../support/fixtures.js'
import { runCli } from './run-cli.js'

const folderOf = (name: string): string => dirname(fixturePath('dcp', `${name}/.metadata`))

describe('a distributed checkpoint', () => {
  let scratch = ''
  beforeAll(async () => {
    scratch = await mkdtemp(join(tmpdir(), 'tare-dcp-'))
  })
  afterAll(() => rm(scratch, { recursive: true }))

  it('is inspected by its directory, and by its .metadata', async () => {
    for (const input of [folderOf('row-column'), join(folderOf('row-column'), '.metadata')]) {
      const { status, stdout } = await runCli('inspect', '--json', input)
      expect(status).toBe(0)
      expect(JSON.parse(stdout)).toMatchObject({ format: 'dcp' })
    }
  })

  it.each(['plain', 'row-column', 'mesh-2x2', 'fsdp-adamw'])('%s is merged into one file', async (name) => {
    const output = join(scratch, `${name}.safetensors`)
    const converted = await runCli('convert', folderOf(name), '-o', output)
    expect(converted.status).toBe(0)
    const { status, stdout } = await runCli('hash', '--algorithm', 'sha256', '--json', output)
    expect(status).toBe(0)
    const text = JSON.stringify(JSON.parse(stdout))
    const { tensors } = loadCases('dcp').find(({ file }) => file === `${name}/.metadata`)!
    for (const tensor of tensors!) expect(text, tensor.name).toContain(tensor.sha256)
  })

  it.each([
    ['missing-distcp', 'dcp/file-missing'],
    ['cut-distcp', 'dcp/item-bounds'],
    ['empty-distcp', 'dcp/item-bounds'],
    ['cut-metadata', 'pickle/'],
    ['foreign-global', 'torch/unsafe-global'],
  ])('%s is refused', async (name, code) => {
    const { status, stdout } = await runCli('verify', '--json', folderOf(`damaged/${name}`))
    expect(status).toBe(1)
    expect(stdout).toContain(code)
    const converted = await runCli('convert', folderOf(`damaged/${name}`), '-o', join(scratch, 'none.safetensors'))
    expect(converted.status).toBe(1)
  })

  it('is saved as far as it is there', async () => {
    const output = join(scratch, 'saved.safetensors')
    const { status, stderr } = await runCli('repair', folderOf('damaged/cut-distcp'), '-o', output)
    expect(stderr).toContain('"three.weight"')
    expect(status).toBeLessThanOrEqual(1)
    const { stdout } = await runCli('hash', '--algorithm', 'sha256', '--json', output)
    const { tensors } = loadCases('dcp').find(({ file }) => file === 'row-column/.metadata')!
    const lost = new Set(['small.weight', 'int.weight', 'three.weight'])
    for (const { name, sha256 } of tensors!) expect(stdout.includes(sha256!), name).toBe(!lost.has(name))
  })

  it('without its .metadata says what is missing', async () => {
    const directory = dirname(fixturePath('dcp', 'damaged/missing-metadata/__0_0.distcp'))
    const { status, stderr } = await runCli('inspect', directory)
    expect(status).not.toBe(0)
    expect(stderr).toContain('.metadata')
  })
})
