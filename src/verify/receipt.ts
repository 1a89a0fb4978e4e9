// Checks a receipt without trusting it. The digests of the model are computed again and compared with those that the receipt gives for the
// output, and for the source if it is available. A tensor that the receipt says was copied must have the same digest on both sides. Where
// it says that nothing was lost although the bytes changed, the values of both files are compared.
import { describeForReceipt, type Receipt, type ReceiptEntry, type ReceiptTensor } from '../convert/receipt.js'
import { compareTensors } from '../diff/compare-tensors.js'
import { turnAlike } from '../diff/turn-alike.js'
import { type Code, type Finding, findingOf } from '../errors/index.js'
import type { HashOptions } from '../inspect/hash.js'
import type { Model, Tensor } from '../model/index.js'
import { pairBy } from '../model/pair-by.js'
import { restoreStowed } from '../stow/index.js'
import { receiptCodes } from './receipt-codes.js'

export interface ReceiptOptions extends Omit<HashOptions, 'algorithm' | 'decoded'> {
  /** The source model of the receipt, to be checked too. */
  readonly source?: Model | undefined
}

/** All differences between the receipt and the output, and the source if given. Reads both completely. */
export async function checkReceipt(output: Model, receipt: Receipt, options: ReceiptOptions = {}): Promise<Finding[]> {
  const { source, ...hashing } = options
  return [
    ...checkTies(receipt, fileOf(output)),
    ...(await checkSide(output, 'output', receipt, hashing)),
    ...(source ? await checkSide(source, 'source', receipt, hashing) : []),
    ...(source ? await checkLosses(source, output, receipt, options.signal) : []),
  ]
}

const fileOf = ({ files }: Model): string => files[0]?.name ?? ''
const pathOf = (name: string): string => `tensors[${JSON.stringify(name)}]`

async function checkSide(
  model: Model,
  side: 'source' | 'output',
  receipt: Receipt,
  options: HashOptions,
): Promise<Finding[]> {
  const findings: Finding[] = []
  const file = fileOf(model)
  const places = new Map(model.tensors.map(({ name, data }) => [name, data?.origin?.offset]))
  const note = (code: Code, name: string, message: string): void => {
    const offset = places.get(name)
    findings.push(findingOf(code, { path: pathOf(name), message, ...(offset !== undefined && { offset }) }, file))
  }
  const found = await describeForReceipt(model, { ...options, algorithm: receipt.algorithm })
  const listed = receipt.tensors.flatMap((entry) => entry[side] ?? [])
  const { pairs, onlyA, onlyB } = pairBy(listed, found.tensors, ({ name }) => name)
  for (const { name } of onlyA) note(receiptCodes.missing, name, 'the receipt lists it, the model does not have it')
  for (const { name } of onlyB) note(receiptCodes.extra, name, 'the receipt does not list it')
  for (const { a, b } of pairs) {
    if (formOf(a) !== formOf(b)) note(receiptCodes.form, a.name, `${formOf(b)}, the receipt says ${formOf(a)}`)
    else if (a.digest !== b.digest)
      note(receiptCodes.digest, a.name, `the digest is ${b.digest}, the receipt says ${a.digest}`)
    else if (a.quant !== b.quant)
      note(receiptCodes.digest, a.name, 'its scales are not those that the receipt is about')
  }
  if (findings.length > 0) return findings
  const { fingerprint, files } = receipt[side]
  if (fingerprint !== found.fingerprint) {
    const message = `the fingerprint is ${found.fingerprint}, the receipt says ${fingerprint}`
    return [findingOf(receiptCodes.fingerprint, { offset: 0, path: 'fingerprint', message }, file)]
  }
  for (const wanted of files) {
    const same = found.files.find(({ digest, size }) => digest === wanted.digest && size === wanted.size)
    if (same) continue
    const message = `no file of the model is the one that the receipt calls ${wanted.name} (${wanted.size} bytes, ${wanted.digest})`
    findings.push(findingOf(receiptCodes.file, { offset: 0, path: 'file', message }, file))
  }
  return findings
}

const formOf = ({ dtype, shape }: ReceiptTensor): string => `${dtype} [${shape.join(', ')}]`

function isSame(source: ReceiptTensor, output: ReceiptTensor, receipt: Receipt): boolean {
  const hasSameScales = source.quant === output.quant || hasLostScales(receipt, source.name)
  return formOf(source) === formOf(output) && source.digest === output.digest && hasSameScales
}

/** Actions that preserve the bytes of a tensor, in its own form and in row-major order. */
const unchanging = new Set(['copy', 'rename', 'stow', 'restore', 'reorder'])

const isUnchanged = ({ actions }: ReceiptEntry): boolean =>
  actions.every(({ action, loss }) => unchanging.has(action) && loss === 'none')

/** Whether the receipt is consistent with itself. */
function checkTies(receipt: Receipt, file: string): Finding[] {
  return receipt.tensors.flatMap((entry) => {
    const { source, output } = entry
    if (!source || !isUnchanged(entry)) return []
    if (output && isSame(source, output, receipt)) return []
    const after = output ? `${formOf(output)} ${output.digest}` : 'nothing'
    const message = `taken over as it was, by the receipt, but ${formOf(source)} ${source.digest} became ${after}`
    return [findingOf(receiptCodes.untied, { path: pathOf(source.name), message }, file)]
  })
}

/** Where bytes changed and the receipt says that nothing was lost, the values must be equal. */
async function checkLosses(first: Model, second: Model, receipt: Receipt, signal?: AbortSignal): Promise<Finding[]> {
  const restored = [await restoreStowed(first), await restoreStowed(second)] as const
  const [source, output] = turnAlike(restored[0].model, restored[1].model).map(byName) as [TensorMap, TensorMap]
  const findings: Finding[] = []
  for (const entry of receipt.tensors) {
    if (!entry.source || !entry.output || (entry.loss !== 'none' && entry.loss !== 'form')) continue
    if (isSame(entry.source, entry.output, receipt)) continue
    const [before, after] = [source.get(entry.source.name), output.get(entry.output.name)]
    if (!before || !after) continue // missing tensors have been reported
    const isBare = hasLostScales(receipt, entry.source.name)
    const pair = [before, after].map((tensor) => (isBare ? { ...tensor, quant: undefined } : tensor)) as [
      Tensor,
      Tensor,
    ]
    const difference = await compareTensors(...pair, { tolerance: 0, signal })
    if (!difference || difference.close) continue
    const { values, reason = 'the shapes differ' } = difference
    const message = values
      ? `${values.differing} of ${values.count} values differ from the source, the first at [${values.firstAt?.join(', ')}]`
      : `its values cannot be compared with those of the source: ${reason}`
    const code = values ? receiptCodes.loss : receiptCodes.unchecked
    findings.push(findingOf(code, { path: pathOf(entry.output.name), message }, fileOf(second)))
  }
  return findings
}

/** A plan lists scales beside a tensor separately. Without them the stored numbers are unchanged, but their meaning is not. */
const hasLostScales = ({ others }: Receipt, name: string): boolean =>
  others.some((each) => each.name === `quantization of ${name}` && each.loss === 'content')

type TensorMap = ReadonlyMap<string, Tensor>
const byName = ({ tensors }: Model): TensorMap => new Map(tensors.map((tensor) => [tensor.name, tensor]))
