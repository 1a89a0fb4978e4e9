// Any byte of a file with all hashes on may change: verifying finds it, and says in which chunk, page and tensor it lies.
import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { fileOf } from '../../../src/formats/aero/file.js'
import { type Finding, MemorySource, type Model, openModel, verifySource } from '../../../src/kit.js'
import { convertToFiles } from '../../support/convert.js'
import { sampleModel, sampleTensor } from '../../support/sample-model.js'

const pageSize = 128
const tensors = [
  sampleTensor('first', 'u8', [100], 1),
  sampleTensor('second', 'f32', [40], 2),
  sampleTensor('third', 'bf16', [3, 5], 3),
  sampleTensor('fourth', 'i64', [30], 4),
]
const variants = {
  'index behind the weights': {},
  'index in front of the weights': { deterministic: true },
  'tensors on multiples of 64': { align: 64 },
} as const

describe.each(Object.entries(variants))('%s', (_, options) => {
  let bytes: Uint8Array
  let model: Model
  beforeAll(async () => {
    const extra = { 'page-hashes': pageSize, 'control-hash': true }
    const metadata = new Map([['note', { type: 'str', value: 'metadata of some length' } as const]])
    const files = await convertToFiles(sampleModel(tensors, metadata), 'aero', { shardSize: 300, extra, ...options })
    bytes = [...files.values()][0]!
    model = await openModel(new MemorySource(bytes))
    expect((await verifySource(new MemorySource(bytes))).findings).toEqual([])
  })

  /** What the byte belongs to, from the file as it was. */
  function placeOf(offset: number) {
    const { control, entries } = fileOf(model)!
    const chunk = control.chunks.find((each) => each.offset <= offset && offset < each.offset + each.length)
    const tensor = entries.find(({ start, end }) => start <= offset && offset < end)?.tensor
    const isWeight = chunk?.fourcc === 'WTSH'
    return { chunk, tensor, page: isWeight ? Math.floor((offset - chunk.offset) / pageSize) : undefined }
  }

  const covers = ({ offset = 0, length = 1 }: Finding, at: number): boolean => offset <= at && at < offset + length

  it('finds every change and names its place', async () => {
    const change = fc.tuple(fc.nat(bytes.byteLength - 1), fc.integer({ min: 1, max: 255 }))
    await fc.assert(
      fc.asyncProperty(change, async ([at, mask]) => {
        const changed = bytes.slice()
        changed[at]! ^= mask
        const { findings } = await verifySource(new MemorySource(changed))
        const said = JSON.stringify(findings)
        expect(findings.length, `byte ${at}`).toBeGreaterThan(0)
        const { chunk, tensor, page } = placeOf(at)
        if (chunk) {
          const naming = findings.find(({ message }) => message.includes(JSON.stringify(chunk.name)))
          expect(naming, said).toBeDefined()
        }
        if (page === undefined) return
        const find = (code: string) => findings.find((finding) => finding.code === code && covers(finding, at))
        expect(find('aero/chunk-hash')?.message, said).toContain(JSON.stringify(chunk!.name))
        const damaged = find('aero/phsh-digest')
        expect(damaged?.message, said).toContain(`page ${page} of ${JSON.stringify(chunk!.name)}`)
        if (!tensor) return
        expect(damaged?.message, said).toContain(JSON.stringify(tensor.name))
        expect(find('aero/tensor-hash-b3')?.message, said).toContain(JSON.stringify(tensor.name))
      }),
      { numRuns: 250 },
    )
  })
})
