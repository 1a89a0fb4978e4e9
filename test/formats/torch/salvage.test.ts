import { expect, test } from 'vitest'
import { hashModel, MemorySink, MemorySource, openModel, planRepair, writeLayout } from '../../../src/kit.js'
import { fixtureBytes } from '../../support/fixtures.js'

async function save(bytes: Uint8Array) {
  const planned = await planRepair(new MemorySource(bytes, 'm.pt'), { name: 'out.safetensors' })
  const files = new Map<string, Uint8Array>()
  await writeLayout(planned.layout, async (name) => new MemorySink(name, files))
  const model = await openModel(new MemorySource(files.get('out.safetensors')!, 'out.safetensors'))
  const saved = new Map((await hashModel(model)).tensors.map(({ name, digest }) => [name, digest]))
  return { saved, lost: planned.salvage!.lost.filter(({ subject }) => subject === 'tensor').map(({ name }) => name) }
}

const digestsOf = async (bytes: Uint8Array): Promise<Map<string, string | null>> => {
  const model = await openModel(new MemorySource(bytes, 'm.pt'))
  return new Map((await hashModel(model)).tensors.map(({ name, digest }) => [name, digest]))
}

test.each(['checkpoint-legacy.pt', 'state-dict-legacy.pth'])(
  '%s, cut at every storage, keeps those before',
  async (file) => {
    const bytes = fixtureBytes('torch', file)
    const whole = await digestsOf(bytes)
    const model = await openModel(new MemorySource(bytes, 'm.pt'))
    const starts = new Set(model.tensors.flatMap(({ data }) => (data?.origin ? [data.origin.offset] : [])))
    let most = 0
    for (const start of [...starts].sort((a, b) => a - b).slice(1)) {
      const { saved, lost } = await save(bytes.subarray(0, start + 1))
      for (const [name, digest] of saved) expect(digest, name).toBe(whole.get(name))
      expect(lost.length).toBeGreaterThan(0)
      expect([...whole.keys()].filter((name) => !saved.has(name) && !lost.includes(name))).toEqual([])
      most = Math.max(most, saved.size)
    }
    expect(most).toBeGreaterThan(0)
  },
)

test.each(['strided.pt', 'rezipped-deflate.pt'])('%s: a wrong byte costs all views of that storage', async (file) => {
  const bytes = fixtureBytes('torch', file)
  const whole = await digestsOf(bytes)
  const at = Buffer.from(bytes).indexOf('/data/0')
  const extra = new DataView(bytes.buffer, bytes.byteOffset).getUint16(at + 7 - guessName(bytes, at) - 2, true)
  const damaged = bytes.slice()
  damaged[at + '/data/0'.length + extra + 3]! ^= 0x40
  const { saved, lost } = await save(damaged)
  expect(lost.length).toBeGreaterThan(0)
  for (const [name, digest] of saved) expect(digest, name).toBe(whole.get(name))
  expect([...whole.keys()].filter((name) => !saved.has(name) && !lost.includes(name))).toEqual([])
})

/** How long the name of the member is that ends here: the header states it 4 bytes before the name. */
function guessName(bytes: Uint8Array, end: number): number {
  const start = Buffer.from(bytes.subarray(0, end)).lastIndexOf('PK\u0003\u0004')
  return end + '/data/0'.length - (start + 30)
}
