// int8 and int4 as tare writes them: a warning when writing and when verifying, and no error.
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { diffModels, MemorySource, openModel, verifySource } from '../../../../src/kit.js'
import { runCli as tare } from '../../../cli/run-cli.js'
import { useTempDir } from '../../../node/temp-dir.js'
import { convertToFiles, sourceOf } from '../../../support/convert.js'
import { fixturePath, fixtureSource } from '../../../support/fixtures.js'

const at = useTempDir()
const unread = /the reference reader cannot read them/

describe('int8 and int4', () => {
  it.each(['int8', 'int4'])('%s: quantizing warns, and the file verifies with a warning', async (method) => {
    const made = await tare('quantize', fixturePath('mcf', 'quant-src.mcf'), '--method', method, '-o', at('m.mcf'))
    expect([made.status, made.stderr]).toEqual([0, expect.stringMatching(unread)])
    const { status, stdout, stderr } = await tare('verify', at('m.mcf'))
    expect(status, stdout).toBe(0)
    expect(stdout + stderr).toContain('warning mcf/int-payload')
    expect(stdout + stderr).not.toContain('error')
    expect((await tare('verify', '--strict', '--accept-int', at('m.mcf'))).status).toBe(0)
    const plan = await tare('convert', '--dry-run', '--json', at('m.mcf'), '-o', at('n.mcf'))
    expect(JSON.parse(plan.stdout).notes).toEqual([expect.stringMatching(unread)])
    expect((await tare('convert', at('m.mcf'), '-o', at('n.mcf'))).status).toBe(0)
    expect(readFileSync(at('n.mcf')).equals(readFileSync(at('m.mcf')))).toBe(true)
  })

  it('of unknown origin are an error, and a copy by tare says what they are', async () => {
    const source = fixtureSource('mcf', 'doc-int8-weights.mcf')
    expect((await verifySource(source)).verdict).toBe('errors')
    const model = await openModel(source)
    const copy = await convertToFiles(model, 'mcf')
    expect((await verifySource(sourceOf(copy))).verdict).toBe('warnings')
    const again = await openModel(sourceOf(copy))
    expect((await diffModels(model, again)).equal).toBe(true)
    expect(again.metadata.size).toBe(0)
  })

  it('leave the mark behind with the tensors', async () => {
    const made = await tare('quantize', fixturePath('mcf', 'quant-src.mcf'), '--method', 'int8', '-o', at('m.mcf'))
    expect(made.status).toBe(0)
    const model = await openModel(new MemorySource(readFileSync(at('m.mcf')), 'm.mcf'))
    const [plain] = [...(await convertToFiles(model, 'mcf', { dequantize: ['*'] })).values()]
    expect(Buffer.from(plain!).includes('tare.int')).toBe(false)
  })
})
