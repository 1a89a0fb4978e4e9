// Repairing anything at all: files that were cut, and files that were never right. The answer is a new file in which everything is as
// it was, or an error of the format's own; never a crash, and never a tensor with other bytes.
import { describe, expect, it } from 'vitest'
import {
  formats,
  hashModel,
  MemorySink,
  openModel,
  planRepair,
  rowMajor,
  TareError,
  verifySource,
  writeLayout,
} from '../../src/index.js'
import { sourceOf } from '../support/convert.js'
import { fixtureBytes, fixtureSource, isAccepted, presentCases } from '../support/fixtures.js'

const largest = 16 * 1024
const isThorough = process.env.TARE_THOROUGH !== undefined
const cutCount = isThorough ? 100 : 12
/** Repairs tried per format, evenly spread over files and cuts. TARE_THOROUGH=1 tries all. */
const most = isThorough ? Number.POSITIVE_INFINITY : 24

function spread<T>(all: readonly T[]): T[] {
  const count = Math.min(all.length, most)
  return Array.from({ length: count }, (_, i) => all[Math.floor((i * all.length) / count)]!)
}

async function digestsOf(source: Parameters<typeof openModel>[0]): Promise<Map<string, string | null>> {
  const model = await openModel(source)
  const { tensors } = await hashModel(
    { ...model, tensors: model.tensors.map((each) => rowMajor(each)) },
    { algorithm: 'crc32' },
  )
  return new Map(tensors.map(({ name, digest }) => [name, digest]))
}

/** The repaired file; undefined when nothing could be done. */
async function repaired(source: Parameters<typeof openModel>[0], place: string) {
  const name = 'out.safetensors'
  try {
    const planned = await planRepair(source, { name })
    const files = new Map<string, Uint8Array>()
    await writeLayout(planned.layout, async (each) => new MemorySink(each, files))
    return { planned, output: new Map([[planned.files[0]!.name, files.get(planned.files[0]!.name)!], ...files]) }
  } catch (error) {
    expect(error, `${place}: ${String((error as Error).stack)}`).toBeInstanceOf(TareError)
    return undefined
  }
}

describe.each(formats.map((format) => format.id))('%s, repaired', (id) => {
  const small = presentCases(id).filter(({ file }) => fixtureBytes(id, file).byteLength <= largest)

  it('from cut files', async () => {
    const all = small.filter(isAccepted).flatMap(({ file }) => {
      const bytes = fixtureBytes(id, file)
      return Array.from({ length: cutCount }, (_, i) => {
        const end = Math.floor(((i + 1) * bytes.byteLength) / (cutCount + 1))
        return { file, cut: bytes.subarray(0, end), place: `${file}, cut at ${end}` }
      })
    })
    for (const { file, cut, place } of spread(all)) {
      const result = await repaired(fixtureSource(id, file, cut), place)
      if (!result?.planned.salvage) continue
      const { findings } = await verifySource(sourceOf(result.output))
      expect(
        findings.filter(({ severity }) => severity === 'error'),
        place,
      ).toEqual([])
      const whole = await digestsOf(fixtureSource(id, file))
      const rounded = new Set(result.planned.salvage.lost.map(({ name }) => name))
      for (const [name, digest] of await digestsOf(sourceOf(result.output))) {
        expect(whole.has(name), `${name}, ${place}`).toBe(true)
        // Where a name stands twice, the reader's choice between them depends on which is there.
        if (!rounded.has(name)) expect([...whole.values()], `${name}, ${place}`).toContain(digest)
      }
    }
  })

  it('from files that were never right', async () => {
    const wrong = small.filter((each) => !isAccepted(each))
    for (const { file } of spread(wrong)) await repaired(fixtureSource(id, file), file)
  })
})
