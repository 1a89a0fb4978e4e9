// Damaged files: cut anywhere or with any byte changed, a reader must answer with a coded finding or with a model that differs only
// where the damage is. It must never hang, crash or blame itself.
import { describe, expect, it } from 'vitest'
import { formats, hashModel, inspectModel, mapSource, openModel, TareError, verifySource } from '../../src/kit.js'
import { fixtureBytes, fixtureSource, isAccepted, presentCases } from '../support/fixtures.js'

const largest = 64 * 1024
const flipLargest = 4096
/** Places tried per file: every one in small files, evenly spread in larger ones. TARE_THOROUGH=1 tries all. */
const most = process.env.TARE_THOROUGH ? Number.POSITIVE_INFINITY : 120

function spread<T>(all: readonly T[]): T[] {
  const count = Math.min(all.length, most)
  return Array.from({ length: count }, (_, i) => all[Math.floor((i * all.length) / count)]!)
}

describe.each(formats.map((format) => format.id))('%s, damaged', (id) => {
  const { openEnded } = formats.find((format) => format.id === id)!.capabilities
  const files = presentCases(id)
    .filter(isAccepted)
    .map((each) => each.file)
    .filter((file) => fixtureBytes(id, file).byteLength <= largest)

  it.each(files)('%s, cut at every boundary', async (file) => {
    const bytes = fixtureBytes(id, file)
    const map = await mapSource(fixtureSource(id, file))
    const boundaries = new Set(
      // Bytes that belong to nobody may be cut off without harm.
      map.files[0]!.extents.filter(({ kind }) => kind !== 'gap').flatMap(({ offset, length }) => [
        offset,
        offset + Math.floor(length / 2),
      ]),
    )
    const starts = new Set(map.files[0]!.extents.map(({ offset }) => offset))
    for (const end of spread([...boundaries])) {
      if (end >= bytes.byteLength) continue
      const { verdict, findings } = await verifySource(fixtureSource(id, file, bytes.subarray(0, end)))
      if (verdict !== 'errors' && openEnded && starts.has(end)) {
        const { digests } = await describeModel(fixtureSource(id, file, bytes.subarray(0, end)))
        const whole = (await describeModel(fixtureSource(id, file))).digests
        const expected = openEnded === 'tensors' ? whole.slice(0, digests.length) : whole
        expect(digests, `cut at ${end}, between records`).toEqual(expected)
        continue
      }
      expect(verdict, `cut at ${end}`).toBe('errors')
      const errors = findings.filter((finding) => finding.severity === 'error')
      expect(
        errors.every((finding) => finding.code !== 'verify/internal'),
        `${end}: ${JSON.stringify(errors)}`,
      ).toBe(true)
      expect(
        errors.some((finding) => finding.offset !== undefined),
        `cut at ${end}`,
      ).toBe(true)
    }
  })

  it.each(files.filter((file) => fixtureBytes(id, file).byteLength <= flipLargest))(
    '%s, single bytes changed',
    async (file) => {
      const bytes = fixtureBytes(id, file)
      const whole = await describeModel(fixtureSource(id, file))
      const data = (await mapSource(fixtureSource(id, file))).files[0]!.extents.filter(
        (extent) => extent.kind === 'data',
      )
      for (const at of spread([...bytes.keys()])) {
        const changed = bytes.slice()
        changed[at] = changed[at]! ^ (at % 2 === 0 ? 0xff : 0x01)
        const { findings } = await verifySource(fixtureSource(id, file, changed))
        expect(
          findings.map((finding) => finding.code),
          `byte ${at}`,
        ).not.toContain('verify/internal')
        if (findings.some((finding) => finding.severity !== 'note')) continue
        const model = await describeModel(fixtureSource(id, file, changed))
        if (!data.some(({ offset, length }) => at >= offset && at < offset + length)) continue
        expect(model.index, `byte ${at} is data, so the index stays`).toEqual(whole.index)
        const different = model.digests.filter((digest, i) => digest !== whole.digests[i])
        expect(different.length, `byte ${at}`).toBeGreaterThan(0)
      }
    },
  )

  it('never throws anything but its own error', async () => {
    for (const each of presentCases(id)) {
      try {
        await describeModel(fixtureSource(id, each.file))
      } catch (error) {
        expect(error, each.file).toBeInstanceOf(TareError)
      }
    }
  })
})

async function describeModel(source: Parameters<typeof openModel>[0]) {
  const model = await openModel(source)
  const { metadata, tensors, parts } = inspectModel(model)
  const hashes = await hashModel(model, { algorithm: 'crc32' })
  return { index: JSON.stringify({ metadata, tensors, parts }), digests: hashes.tensors.map((tensor) => tensor.digest) }
}
