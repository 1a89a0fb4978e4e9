// Repairing anything at all: files that were cut, and files that were never right. The answer is a new file in which everything is as
// it was, with a list of what is not in it, or an error of the format's own; never a crash, and never a tensor with other bytes.
import { describe, expect, it } from 'vitest'
import {
  formats,
  hashModel,
  MemorySink,
  MemorySource,
  type Model,
  openModel,
  type PlannedRepair,
  planRepair,
  rowMajor,
  TareError,
  text,
  verifySource,
  writeLayout,
} from '../../src/kit.js'
import { convertToFiles, sourceOf } from '../support/convert.js'
import { fixtureBytes, fixtureSource, isAccepted, presentCases } from '../support/fixtures.js'
import { sampleModel, sampleTensor } from '../support/sample-model.js'

const largest = 16 * 1024
const isThorough = process.env.TARE_THOROUGH !== undefined
const cutCount = isThorough ? 100 : 12
/** Repairs tried per format, evenly spread over files and cuts. TARE_THOROUGH=1 tries all. */
const most = isThorough ? Number.POSITIVE_INFINITY : 24

const maxWritten = 64 << 20

function spread<T>(all: readonly T[], count = most): T[] {
  const chosen = Math.min(all.length, count)
  return Array.from({ length: chosen }, (_, i) => all[Math.floor((i * all.length) / chosen)]!)
}

/** By name: the digest of the bytes, with the type that they are in. */
type Digests = Map<string, { readonly dtype: string; readonly digest: string | null }>

/** A tensor that its file gives a name to has another one in another file: `fileName` is what it is called instead. */
async function digestsOf(model: Model, fileName?: string): Promise<Digests> {
  const { tensors } = await hashModel(
    { ...model, tensors: model.tensors.map((each) => rowMajor(each)) },
    { algorithm: 'crc32' },
  )
  return new Map(
    tensors.map(({ name, digest }, i) => {
      const { isNamedByFile, dtype } = model.tensors.at(i)!
      return [isNamedByFile && fileName !== undefined ? fileName : name, { dtype: dtype.id, digest }]
    }),
  )
}

interface Repaired {
  readonly planned: PlannedRepair
  readonly output: ReadonlyMap<string, Uint8Array>
}

/** The repaired file; undefined when nothing could be done. */
async function repaired(source: MemorySource, place: string): Promise<Repaired | undefined> {
  try {
    const planned = await planRepair(source, { name: 'out.safetensors', deterministic: true })
    // A file that was never right may ask for gigabytes of padding.
    if (planned.size > maxWritten) return undefined
    const files = new Map<string, Uint8Array>()
    await writeLayout(planned.layout, async (each) => new MemorySink(each, files))
    return { planned, output: new Map([[planned.files[0]!.name, files.get(planned.files[0]!.name)!], ...files]) }
  } catch (error) {
    expect(error, `${place}: ${String((error as Error).stack)}`).toBeInstanceOf(TareError)
    return undefined
  }
}

interface Original {
  readonly whole: Digests
  /** Some name occurs twice. */
  readonly hasTwins: boolean
  /** What the file calls a tensor that has no other name. */
  readonly fileName: string | undefined
}

async function originalOf(id: string, file: string): Promise<Original> {
  const { findings } = await verifySource(fixtureSource(id, file))
  const model = await openModel(fixtureSource(id, file))
  const fileName = model.tensors.find(({ isNamedByFile }) => isNamedByFile)?.name
  const hasTwins = findings.some(({ code }) => code.includes('duplicate'))
  return { whole: await digestsOf(model), hasTwins, fileName }
}

/** What was saved is what was there, and what is not there is listed. */
async function expectHonest(
  { planned, output }: Repaired,
  { whole, hasTwins, fileName }: Original,
  place: string,
): Promise<Digests> {
  const { findings } = await verifySource(sourceOf(output))
  expect(
    // Where the record that explains an infinite scale is lost, it is one that nothing explains.
    findings.filter(({ severity, code }) => severity === 'error' && !code.endsWith('/scale-not-finite')),
    place,
  ).toEqual([])
  const saved = await digestsOf(await openModel(sourceOf(output)), fileName)
  const { lost, kept } = planned.salvage!
  const lostNames = new Set(lost.map(({ name }) => name))
  for (const [name, digest] of saved) {
    expect(whole.has(name), `${name}, ${place}`).toBe(true)
    // Where a name occurs twice, the reader's choice between them depends on which is there; and the output may have no place for a type.
    const before = whole.get(name)!
    const isComparable = !hasTwins && !lostNames.has(name) && before.dtype === digest.dtype
    if (isComparable) expect(digest, `${name}, ${place}`).toEqual(before)
  }
  const isSomethingUnnamed = lost.some(({ subject, name }) => subject === 'tensor' && name === undefined)
  // Names that occur twice are told apart by a number, which what is left of the file need not know of.
  const isListed = (name: string): boolean => lostNames.has(name) || lostNames.has(name.replace(/~\d+$/, ''))
  const unlisted = [...whole.keys()].filter((name) => !saved.has(name) && !isListed(name))
  if (!isSomethingUnnamed) expect(unlisted, place).toEqual([])
  expect(kept, place).toBe(saved.size)
  return saved
}

describe.each(formats.map((format) => format.id))('%s, repaired', (id) => {
  const small = presentCases(id).filter(({ file }) => fixtureBytes(id, file).byteLength <= largest)

  it('from cut files', async () => {
    const originals = new Map<string, Original>()
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
      if (!originals.has(file)) originals.set(file, await originalOf(id, file))
      await expectHonest(result, originals.get(file)!, place)
    }
  })

  it('from files that were never right', async () => {
    const wrong = small.filter((each) => !isAccepted(each))
    for (const { file } of spread(wrong)) await repaired(fixtureSource(id, file), file)
  })
})

const sample = sampleModel(
  [
    sampleTensor('first', 'f32', [40, 8], 1),
    sampleTensor('second', 'f32', [7], 2),
    sampleTensor('third', 'f32', [30, 11], 3),
    sampleTensor('fourth', 'f32', [25, 5], 4),
  ],
  new Map([['general.architecture', text('llama')]]),
)

/** Options that make a difference to what can be saved; test/convert/salvage.test.ts has all formats without any. */
const written = formats
  .filter(({ capabilities, extensions }) => capabilities.write && !extensions[0]?.endsWith('.json'))
  .filter(({ options }) => options?.write?.some(({ name }) => name === 'tensor-hashes'))
  .flatMap(({ id }) => [{ 'tensor-hashes': 'off' }, { 'page-hashes': 512 }].map((extra) => [id, extra] as const))

describe.each(written)('%s with %j', (id, extra) => {
  const make = async (): Promise<Uint8Array> =>
    [...(await convertToFiles(sample, id, { name: 'm', extra: { ...extra }, deterministic: true })).values()][0]!

  it('gives back everything that lies before a cut, once there is anything at all', async () => {
    const bytes = await make()
    const model = await openModel(new MemorySource(bytes, 'm'), { from: id })
    const whole = await digestsOf(model)
    const ends = model.tensors.map(({ name, data }) => [name, data!.origin!.offset + data!.byteLength] as const)
    const edges = ends.flatMap(([, end]) => [end - 1, end])
    const cuts = [...edges, ...spread([...bytes.keys()], isThorough ? 400 : 8), bytes.byteLength - 1]
    for (const end of cuts) {
      const place = `cut at ${end}`
      const result = await repaired(new MemorySource(bytes.subarray(0, end), 'm'), place)
      if (!result?.planned.salvage) continue
      const saved = await expectHonest(result, { whole, hasTwins: false, fileName: undefined }, place)
      const unnamed = result.planned.salvage.lost.filter(({ name }) => name === undefined).length
      const expected = ends.filter(([, tensorEnd]) => tensorEnd <= end).map(([name]) => name)
      if (unnamed === 0) expect([...saved.keys()].sort(), place).toEqual(expected.sort())
    }
  })
})
