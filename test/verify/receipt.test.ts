import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { makeReceipt, type Receipt, receiptLines } from '../../src/convert/receipt.js'
import {
  type ConvertOptions,
  formats,
  MemorySink,
  type Model,
  openModel,
  planConversion,
  runConversion,
  TareError,
} from '../../src/kit.js'
import { parseReceipt } from '../../src/verify/read-receipt.js'
import { checkReceipt } from '../../src/verify/receipt.js'
import { verifySource } from '../../src/verify/verify.js'
import { sourceOf } from '../support/convert.js'
import { encoder } from '../support/encoder.js'
import { type FixtureCase, fixtureBytes, fixtureSource, isAccepted, presentCases } from '../support/fixtures.js'
import { sampleModel, sampleTensor } from '../support/sample-model.js'

interface Converted {
  readonly files: Map<string, Uint8Array>
  readonly output: Model
  readonly receipt: Receipt
}

async function convert(source: Model, target: string, options: Partial<ConvertOptions> = {}): Promise<Converted> {
  const conversion = await planConversion(source, target, { name: 'out', ...options })
  const { plan, layout } = conversion
  const written = new Map<string, Uint8Array>()
  await runConversion(conversion, async (name) => new MemorySink(name, written), { allowLoss: 'content' })
  const main = layout.files[0]!.name
  const files = new Map([[main, written.get(main)!], ...written])
  const output = await openModel(sourceOf(files), { from: target })
  return { files, output, receipt: await makeReceipt(plan, source, output) }
}

const open = (files: Map<string, Uint8Array>, from: string): Promise<Model> => openModel(sourceOf(files), { from })
const again = (receipt: Receipt): Receipt => parseReceipt([...receiptLines(receipt)].join('\n'), 'receipt')
const codes = async (...args: Parameters<typeof checkReceipt>): Promise<string[]> =>
  (await checkReceipt(...args)).map(({ code }) => code)

const model = sampleModel([
  sampleTensor('a', 'f32', [4, 8], 1),
  sampleTensor('b', 'f16', [6], 2),
  sampleTensor('c', 'i64', [3], 3),
  sampleTensor('d', 'i8', [5], 4),
])

describe('a receipt', () => {
  it('ties digests, actions and losses together, tensor by tensor', async () => {
    const { receipt } = await convert(model, 'safetensors', { cast: 'f16', exclude: ['c'], rename: ['s/^d$/e/'] })
    expect(receipt).toMatchObject({
      receipt: 1,
      algorithm: 'blake3',
      output: { format: 'safetensors', files: [{ name: 'out' }] },
      loss: 'content',
      tensors: [
        {
          source: { name: 'a', dtype: 'f32' },
          output: { name: 'a', dtype: 'f16', shape: [4, 8] },
          loss: 'precision',
          actions: [{ action: 'cast', requested: true, from: 'f32', to: 'f16' }],
        },
        { source: { name: 'b' }, output: { name: 'b' }, loss: 'none', actions: [{ action: 'copy' }] },
        { source: { name: 'c' }, loss: 'content', actions: [{ action: 'drop' }] },
        { source: { name: 'd' }, output: { name: 'e' }, loss: 'none', actions: [{ action: 'rename' }] },
      ],
    })
    const [, b, c, d] = receipt.tensors
    expect(b!.source!.digest).toBe(b!.output!.digest)
    expect(d!.source!.digest).toBe(d!.output!.digest)
    expect(c).not.toHaveProperty('output')
    expect(again(receipt)).toEqual(receipt)
  })

  it('is the same for the same conversion', async () => {
    const make = async () => [...receiptLines((await convert(model, 'safetensors')).receipt)].join('\n')
    expect(await make()).toBe(await make())
  })
})

describe('checking', () => {
  const targets = formats.filter(({ capabilities: { write } }) => write && write.maxTensors === undefined)

  it.each(targets.map(({ id }) => [id]))('what went to %s finds nothing wrong', async (target) => {
    for (const { id } of formats) {
      const isUsed = (each: FixtureCase): boolean =>
        isAccepted(each) && (each.tensors?.length ?? 0) > 1 && fixtureBytes(id, each.file).byteLength < 10_000
      const used = presentCases(id).find(isUsed)
      if (!used) continue
      const source = await openModel(fixtureSource(id, used.file), { from: id })
      const { files, receipt } = await convert(source, target)
      const findings = await checkReceipt(await open(files, target), again(receipt), { source })
      const errors = findings.filter(({ severity }) => severity === 'error')
      expect(errors, `${id} ${used.file} to ${target}`).toEqual([])
    }
  })

  it('scales that a target cannot hold are a loss with a name of its own', async () => {
    const quant = { scheme: 'symmetric', scales: [0.5] } as const
    const source = sampleModel([{ ...sampleTensor('q', 'i8', [4]), quant }])
    const { output, receipt } = await convert(source, 'npz', { stow: false })
    expect(receipt.others).toMatchObject([{ name: 'quantization of q', loss: 'content' }])
    expect(await checkReceipt(output, receipt, { source })).toEqual([])
    expect(await codes(output, { ...receipt, others: [] }, { source })).toEqual(['receipt/untied', 'receipt/loss'])
  })

  it('weights that were turned are found to be the same', async () => {
    const source = {
      ...encoder('in-out', { hidden: 6, intermediate: 10 }),
      parts: [{ kind: 'orientation', sharing: 'derived', value: { linear: 'in-out' } } as const],
    }
    const { output, receipt } = await convert(source, 'safetensors')
    expect(receipt.tensors.some(({ actions }) => actions.some(({ action }) => action === 'transpose'))).toBe(true)
    expect(await checkReceipt(output, receipt, { source })).toEqual([])
  })

  it('finds a changed byte, and says where', async () => {
    const { files, receipt } = await convert(model, 'safetensors')
    const bytes = files.get('out')!
    bytes[bytes.length - 1] = bytes.at(-1)! ^ 1
    const [finding, ...rest] = await checkReceipt(await open(files, 'safetensors'), receipt)
    expect(rest).toEqual([])
    expect(finding).toMatchObject({
      code: 'receipt/digest',
      severity: 'error',
      file: 'out',
      offset: expect.any(Number),
    })
    expect(finding!.path).toMatch(/^tensors\["[abcd]"\]$/)
    const result = await verifySource(sourceOf(files), { receipt })
    expect(result).toMatchObject({ verdict: 'errors', checked: { bytes: bytes.length } })
  })

  it('finds tensors that are missing, new or of another form', async () => {
    const { receipt } = await convert(model, 'safetensors')
    const other = await convert(
      sampleModel([...model.tensors.slice(1), sampleTensor('x', 'f32', [2])]),
      'safetensors',
      { cast: 'f32' },
    )
    expect(await codes(other.output, receipt)).toEqual(['receipt/missing', 'receipt/extra', 'receipt/form'])
  })

  it('warns when only something else has changed', async () => {
    const { receipt } = await convert(model, 'safetensors')
    const { files } = await convert(model, 'safetensors', { set: [['note', 'changed']] })
    const output = await open(files, 'safetensors')
    expect(await codes(output, receipt)).toEqual(['receipt/file'])
    expect((await verifySource(sourceOf(files), { receipt })).verdict).toBe('warnings')
  })

  it('finds that the source is another one', async () => {
    const { output, receipt } = await convert(model, 'safetensors')
    const source = sampleModel([sampleTensor('a', 'f32', [4, 8], 77), ...model.tensors.slice(1)])
    expect(await codes(output, receipt, { source })).toEqual(['receipt/digest'])
  })
})

describe('a receipt that lies', () => {
  const edit = (receipt: Receipt, at: number, change: object): Receipt => ({
    ...receipt,
    tensors: receipt.tensors.map((entry, i) => (i === at ? { ...entry, ...change } : entry)),
  })

  it('about a copy contradicts itself', async () => {
    const { output, receipt } = await convert(model, 'safetensors', { cast: 'f16' })
    const lie = edit(receipt, 0, { loss: 'none', actions: [{ action: 'copy', loss: 'none' }] })
    expect(await codes(output, lie)).toEqual(['receipt/untied'])
    const gone = edit(receipt, 1, { output: undefined })
    expect(await codes(output, gone)).toContain('receipt/untied')
  })

  it('about a loss is found out with the source', async () => {
    const { output, receipt } = await convert(model, 'safetensors', { cast: 'f16' })
    const lie = edit(receipt, 0, { loss: 'none', actions: [{ action: 'cast', loss: 'none', from: 'f32', to: 'f16' }] })
    expect(await codes(output, lie)).toEqual([])
    const findings = await checkReceipt(output, lie, { source: model })
    expect(findings).toMatchObject([{ code: 'receipt/loss', path: 'tensors["a"]' }])
    expect(findings[0]!.message).toMatch(/of 32 values differ from the source, the first at \[\d, \d\]/)
    expect(await codes(output, receipt, { source: model })).toEqual([])
  })

  it('about its fingerprint is wrong', async () => {
    const { output, receipt } = await convert(model, 'safetensors')
    const lie = { ...receipt, output: { ...receipt.output, fingerprint: '00' } }
    expect(await codes(output, lie)).toEqual(['receipt/fingerprint'])
  })
})

describe('reading a receipt', () => {
  it('refuses what is none, with the place', async () => {
    const { receipt } = await convert(model, 'safetensors')
    const text = JSON.stringify(receipt)
    const refused = (broken: string, path: string) => {
      expect(() => parseReceipt(broken, 'r.json')).toThrow(
        expect.objectContaining({ code: 'receipt/syntax', finding: expect.objectContaining({ file: 'r.json', path }) }),
      )
    }
    refused('', '')
    refused('[]', 'receipt')
    refused(text.replace('"receipt":1', '"receipt":2'), 'receipt')
    refused(text.replace('"blake3"', '"md5"'), 'algorithm')
    refused(text.replace('"size":', '"size":-'), 'output.files[0].size')
    refused(text.replace('"shape":[4,8]', '"shape":[4,"8"]'), 'tensors[0].source.shape[1]')
    refused(text.replace('"loss":"none","actions"', '"loss":"little","actions"'), 'tensors[0].loss')
    refused(text.replace('"others":[', '"other":['), 'others')
  })

  it('never fails in another way', async () => {
    const { receipt } = await convert(model, 'safetensors')
    const keys = fc.constantFrom('receipt', 'algorithm', 'source', 'output', 'loss', 'tensors', 'others')
    fc.assert(
      fc.property(keys, fc.jsonValue(), (key, value) => {
        try {
          parseReceipt(JSON.stringify({ ...receipt, [key]: value }), 'r')
        } catch (error) {
          expect(error).toBeInstanceOf(TareError)
        }
      }),
    )
  })
})
