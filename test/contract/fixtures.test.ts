// Every format must say about its fixtures what their cases say, and recognise its own files among all others.
import { describe, expect, it } from 'vitest'
import { closeModel, formats, hashModel, openModel, verifySource } from '../../src/kit.js'
import { fixtureSource, isAccepted, isPresent, loadCases } from '../support/fixtures.js'

const wanted = { accept: ['ok', 'warnings'], warn: ['warnings'], flag: ['warnings', 'errors'], reject: ['errors'] }

describe.each(formats.map((format) => format.id))('%s fixtures', (id) => {
  const cases = loadCases(id)

  it('has cases', () => expect(cases.length).toBeGreaterThan(0))

  const absent = cases.filter((each) => !isPresent(id, each.file))
  it.skipIf(absent.length > 0)('has every file of its cases', () => expect(absent).toEqual([]))
  const present = cases.filter((each) => isPresent(id, each.file))

  it.each(present)('$file is $verdict', async (each) => {
    const result = await verifySource(fixtureSource(id, each.file))
    expect(wanted[each.verdict], JSON.stringify(result.findings)).toContain(result.verdict)
    if (isAccepted(each)) expect(result.format).toBe(each.format ?? id)
    for (const finding of result.findings) {
      expect(finding.code).toMatch(/^[a-z0-9-]+\/[a-z0-9-]+$/)
      expect(finding.code).not.toBe('verify/internal')
      expect(finding.message).not.toBe('')
      if (finding.severity === 'error') {
        expect(finding.offset, finding.code).toBeTypeOf('number')
        expect(finding.path, finding.code).toBeTypeOf('string')
      }
    }
  })

  it.each(present.filter((each) => each.tensors))('$file has the expected tensors', async (each) => {
    const model = await openModel(fixtureSource(id, each.file))
    const stored = await hashModel(model, { algorithm: 'sha256' })
    const decoded = await hashModel(model, { algorithm: 'sha256', decoded: true })
    const key = (t: { name: string; path?: readonly string[]; stat?: string | null }): string =>
      t.path ? JSON.stringify([t.path, t.stat ?? null]) : t.name
    expect(stored.tensors.length).toBe(each.tensors!.length)
    const taken = new Set<number>()
    for (const tensor of each.tensors!) {
      // A file may have one name twice; the list then has both, in file order, and each must be there.
      const index = stored.tensors.findIndex(
        (t, i) => !taken.has(i) && key(tensor.path ? t : { name: t.name }) === key(tensor),
      )
      taken.add(index)
      const got = stored.tensors[index]
      expect(got, key(tensor)).toMatchObject({ dtype: tensor.dtype, digest: tensor.sha256 ?? null })
      expect(got!.shape.map(String)).toEqual(tensor.shape.map(String))
      if (tensor.decodedF32Sha256)
        expect(tensor.decodedF32Sha256, key(tensor)).toContain(decoded.tensors[index]!.digest)
    }
    await closeModel(model)
  })
})
