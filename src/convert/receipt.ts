// A receipt says what a conversion made of what: the digests of every tensor before and after, what was done to it and what that lost.
// Both sides are read from their files once more, so the receipt is about what is there and not about what was meant to be written.
//
// Tensors are described in their own form and in row order, as `diff` compares them: what a container only carries for another format
// counts as what it stands for.
import { encodeUtf8, fileNameOf, toHex } from '../bytes/index.js'
import { type Algorithm, digestOf } from '../digest/index.js'
import type { Finding } from '../errors/index.js'
import { digestPayloads } from '../inspect/digest-payloads.js'
import { type HashOptions, hashModel } from '../inspect/hash.js'
import { type Dim, type Model, type QuantParams, rangePayload } from '../model/index.js'
import { pairBy } from '../model/pair-by.js'
import { restoreStowed } from '../stow/index.js'
import { rowMajor } from '../transforms/reorder.js'
import { type Loss, type PlanAction, worstOf } from './actions.js'
import type { Plan } from './plan.js'

export interface ReceiptFile {
  readonly name: string
  readonly size: number
  readonly digest: string
}

export interface ReceiptSide {
  readonly format: string
  readonly variant?: string
  /** As `tare hash` gives it, for files that carry nothing for another format. */
  readonly fingerprint: string
  /** Every file of the model, the main one first. */
  readonly files: readonly ReceiptFile[]
}

export interface ReceiptTensor {
  readonly name: string
  readonly dtype: string
  readonly shape: readonly Dim[]
  /** Of the bytes in row order; null when the tensor is declared without data. */
  readonly digest: string | null
  /** Of the scales and zero points that a container states beside the tensor, where it does. */
  readonly quant?: string
}

export type ReceiptAction = Omit<PlanAction, 'subject' | 'name'>

export interface ReceiptEntry {
  /** Absent: the output has it from elsewhere. */
  readonly source?: ReceiptTensor
  /** Absent: it was left out. */
  readonly output?: ReceiptTensor
  readonly loss: Loss
  readonly actions: readonly ReceiptAction[]
}

export interface Receipt {
  /** The version of this form. */
  readonly receipt: 1
  readonly algorithm: Algorithm
  readonly source: ReceiptSide
  readonly output: ReceiptSide
  /** The worst of all losses, asked for or not. */
  readonly loss: Loss
  /** What the checksums of the source said was damaged, where it was taken as it is. */
  readonly damage?: readonly Finding[]
  readonly tensors: readonly ReceiptEntry[]
  /** What became of metadata and parts. */
  readonly others: readonly PlanAction[]
}

interface Described extends ReceiptSide {
  readonly tensors: readonly ReceiptTensor[]
}

/** What a receipt says about one model. Reads all of it. */
export async function describeForReceipt(given: Model, options: HashOptions = {}): Promise<Described> {
  const { model } = await restoreStowed(given)
  const { algorithm = 'blake3' } = options
  const tensors = model.tensors.map((tensor) => rowMajor(tensor))
  const hashed = await hashModel({ ...model, tensors }, { ...options, stow: false })
  const payloads = model.files.map((file) => rangePayload(file, 0, file.size))
  const digests = await digestPayloads(payloads, algorithm, { ...options, name: model.files[0]?.name ?? '' })
  return {
    format: model.format,
    ...(model.variant !== undefined && { variant: model.variant }),
    fingerprint: hashed.fingerprint,
    files: model.files.map((file, i) => ({
      name: fileNameOf(file.name),
      size: file.size,
      digest: digests.get(payloads[i]!)!,
    })),
    tensors: await Promise.all(
      hashed.tensors.map(async ({ name, dtype, encoding, shape, digest }, i) => {
        const { quant } = tensors[i]!
        const scales = quant && { quant: toHex(await digestOf(algorithm, encodeUtf8(quantText(quant)))) }
        return { name, dtype: encoding ?? dtype, shape, digest, ...scales }
      }),
    ),
  }
}

const quantText = ({ scheme, axis, scales, zeroPoints }: QuantParams): string =>
  JSON.stringify([scheme, axis ?? null, scales, zeroPoints ?? null])

/** The receipt of a conversion that was carried out; `output` is what it wrote, opened again. */
export async function makeReceipt(
  plan: Plan,
  source: Model,
  output: Model,
  options: HashOptions & { readonly damage?: readonly Finding[] | undefined } = {},
): Promise<Receipt> {
  const { damage = [] } = options
  const { tensors: before, ...sourceSide } = await describeForReceipt(source, options)
  const { tensors: after, ...outputSide } = await describeForReceipt(output, options)
  return {
    receipt: 1,
    algorithm: options.algorithm ?? 'blake3',
    source: sourceSide,
    output: outputSide,
    loss: worstOf(plan.actions),
    ...(damage.length > 0 && { damage }),
    tensors: tieTensors(plan.actions, before, after),
    others: plan.actions.filter(({ subject }) => subject !== 'tensor'),
  }
}

interface Candidate {
  /** What the tensor is called in the output. */
  readonly name: string
  readonly tensor: ReceiptTensor
}

/** Each tensor of the source with what became of it, then what came from elsewhere. */
function tieTensors(
  actions: readonly PlanAction[],
  before: readonly ReceiptTensor[],
  after: readonly ReceiptTensor[],
): ReceiptEntry[] {
  const done = actionsByName(actions)
  const actionsOn = ({ name }: ReceiptTensor): ReceiptAction[] => done.get(name) ?? []
  const kept = before.flatMap((tensor): Candidate[] => {
    const own = actionsOn(tensor)
    if (own.some(({ action }) => action === 'drop')) return []
    return [{ name: own.findLast(({ action }) => action === 'rename')?.to ?? tensor.name, tensor }]
  })
  const written = after.map((tensor): Candidate => ({ name: tensor.name, tensor }))
  const named = pairBy(kept, written, ({ name }) => name)
  // Where the target has names of its own, the content tells.
  const same = pairBy(named.onlyA, named.onlyB, ({ tensor: { dtype, shape, digest } }) =>
    JSON.stringify([dtype, shape, digest]),
  )
  const outputs = new Map([...named.pairs, ...same.pairs].map(({ a, b }) => [a.tensor, b.tensor]))
  const entry = (source: ReceiptTensor | undefined, output: ReceiptTensor | undefined): ReceiptEntry => {
    const own = actionsOn((source ?? output)!)
    return { ...(source && { source }), ...(output && { output }), loss: worstOf(own), actions: own }
  }
  return [
    ...before.map((tensor) => entry(tensor, outputs.get(tensor))),
    ...same.onlyB.map(({ tensor }) => entry(undefined, tensor)),
  ]
}

function actionsByName(actions: readonly PlanAction[]): Map<string, ReceiptAction[]> {
  const byName = new Map<string, ReceiptAction[]>()
  for (const { subject, name, ...action } of actions) {
    if (subject !== 'tensor') continue
    const list = byName.get(name)
    if (list) list.push(action)
    else byName.set(name, [action])
  }
  return byName
}

/** The text of a receipt, a line for each tensor, so that two of them can be compared line by line. */
export function* receiptLines(receipt: Receipt): Generator<string> {
  const { tensors, others, ...head } = receipt
  yield '{'
  for (const [key, value] of Object.entries(head)) yield `${JSON.stringify(key)}:${JSON.stringify(value)},`
  yield* listLines('tensors', tensors, ',')
  yield* listLines('others', others, '')
  yield '}'
}

function* listLines(key: string, items: readonly unknown[], end: string): Generator<string> {
  yield `${JSON.stringify(key)}:[`
  for (const [i, item] of items.entries()) yield `${JSON.stringify(item)}${i === items.length - 1 ? '' : ','}`
  yield `]${end}`
}
