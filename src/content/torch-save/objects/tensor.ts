// From a view to a tensor: the view is checked against its storage, and its elements become a payload. A contiguous view is a byte range
// of the file, so tensors that share a storage share bytes; other views are gathered when they are read.
import { countElements } from '../../../bytes/index.js'
import { type DType, f32, f64 } from '../../../dtypes/index.js'
import { bytesPayload, lazyPayload, type Payload, type ReadContext, type Tensor } from '../../../model/index.js'
import { isContiguous, stridedPayload } from '../../../payloads/strided-payload.js'
import { swappedPayload } from '../../../payloads/swapped-payload.js'
import { codes } from '../codes.js'
import type { Rebuilt, SignFlags, TensorView } from './rebuild.js'
import type { Remarks } from './remarks.js'
import type { Storage, Storages } from './storages.js'
import type { ViewBudget } from './view-budget.js'

export interface TensorPlace {
  readonly name: string
  readonly role: Tensor['role']
  /** Where the pickle describes it. */
  readonly offset: number
  readonly path: string
}

/** What all tensors of a file have in common. */
export interface TensorMaking {
  readonly storages: Storages
  readonly budget: ViewBudget
  readonly remarks: Remarks
  readonly context: ReadContext
}

/** Undefined when what is wrong was reported. */
export function makeTensor(
  rebuilt: Exclude<Rebuilt, { kind: 'parts' }>,
  place: TensorPlace,
  { storages, budget, remarks, context }: TensorMaking,
): Tensor | undefined {
  const { name, role, offset, path } = place
  const report = (code: keyof typeof codes, message: string): undefined => {
    context.report.report(codes[code], { offset, path, message: `${JSON.stringify(name)}: ${message}` })
  }
  if (rebuilt.kind === 'missing') return undefined
  if (rebuilt.kind === 'wrong') return report('tensor-arguments', rebuilt.message)
  if (rebuilt.kind === 'unsupported')
    return report(context.lenient ? 'unsupported-tensor-left-out' : 'unsupported-tensor', rebuilt.message)
  const { dtype, shape: stated } = rebuilt
  const type = (): string => `[${stated.join(', ')}] of ${dtype.id}`
  const count = stated.includes(0) ? 0 : countElements(stated)
  if (count === undefined || !Number.isSafeInteger(count * dtype.group.bytes))
    return report('shape-overflow', `${type()} is more than any file can hold`)
  const pack = rebuilt.kind === 'view' ? (rebuilt.pack ?? 1) : 1
  const shape = pack === 1 ? stated : stated.with(-1, stated.at(-1)! * pack)
  if (rebuilt.kind === 'meta') {
    remarks.add('meta', name, offset)
    return { name, dtype, shape, order: 'row', role, data: null }
  }
  const storage = storages.find(rebuilt.storage)
  if (!storage) {
    const reason = `its storage ${JSON.stringify(rebuilt.storage.key)} is not there in full, or damaged`
    context.onLost?.({ subject: 'tensor', name, length: count * dtype.group.bytes, reason })
    return undefined
  }
  const span = count === 0 ? 0 : spanOf(rebuilt)
  const size = dtype.group.bytes
  // Elements of which several share a byte can only be told apart in a row from the beginning of the storage.
  const perGroup = pack === 1 ? dtype.group.elements : 1
  const isInRow = rebuilt.first === 0 && rebuilt.storage.start === 0 && isContiguous(stated, rebuilt.strides)
  if (perGroup > 1 && !isInRow) return report('unsupported-tensor', `a part of ${dtype.id} elements is not read`)
  const start = (rebuilt.storage.start * rebuilt.storage.elementSize) / size + rebuilt.first
  const end = Math.ceil((start + span) / perGroup) * size
  if (count > 0 && end > storage.byteLength) {
    const message = `${type()} from element ${start} on with strides (${rebuilt.strides.join(', ')}) ends at byte ${end}, the storage has ${storage.byteLength}`
    return report('bounds', message)
  }
  const groups = Math.ceil(count / perGroup)
  const allowance = budget.take(groups * size, storage)
  if (allowance !== 'default') {
    const made = `${groups * size} bytes are made from a storage of ${storage.byteLength}`
    report(allowance === 'none' ? 'expanded' : 'expanded-taken', made)
    if (allowance === 'none') return undefined
  }
  const data = count === 0 ? bytesPayload(new Uint8Array()) : elements(rebuilt, storage, start, span, groups, context)
  const turned = storages.isBigEndian ? swappedPayload(data, swapWidth(dtype)) : data
  const signed = withSigns(turned, dtype, rebuilt.signs)
  if (!signed) return report('unsupported-tensor', `the negative of ${dtype.id} is not read`)
  const { quant, channels } = rebuilt
  if (quant) remarks.add('quantized', name, offset, ` as ${dtype.id} with scale ${quant.scales[0]}`)
  if (channels) remarks.add('quantized', name, offset, ` as ${dtype.id} by channels of axis ${channels.axis}`)
  const tensor: Tensor = { name, dtype, shape, order: 'row', role, data: signed }
  if (!quant && !channels) return tensor
  const extra = channels && { extra: { quantizedAxis: channels.axis } }
  return { ...tensor, ...(quant && { quant }), ...extra }
}

/** Elements from the first to the last that the view touches. */
function spanOf({ shape, strides }: TensorView): number {
  return shape.reduce((sum, dim, axis) => sum + (dim - 1) * strides[axis]!, 1)
}

function elements(
  { dtype, shape, strides }: TensorView,
  storage: Storage,
  start: number,
  span: number,
  count: number,
  { report }: ReadContext,
): Payload {
  const size = dtype.group.bytes
  if (isContiguous(shape, strides)) return storage.part(start * size, count * size)
  return stridedPayload(storage.part(start * size, span * size), shape, strides, size, {
    file: report.file,
    code: codes['unsupported-tensor'],
  })
}

const swapWidth = (dtype: DType): number => (dtype.kind === 'complex' ? dtype.group.bytes / 2 : dtype.group.bytes)

/** Flips signs while the elements, which are little-endian, are read. Undefined when the type has no sign to flip. */
function withSigns(payload: Payload, dtype: DType, { conjugate, negative }: SignFlags): Payload | undefined {
  const isComplex = dtype.kind === 'complex'
  const flipsImaginary = isComplex && negative !== conjugate
  if (!negative && !flipsImaginary) return payload
  if (!isComplex && dtype !== f32 && dtype !== f64 && dtype.id !== 'f16' && dtype.id !== 'bf16') return undefined
  const { bytes } = dtype.group
  const part = isComplex ? bytes / 2 : bytes
  return lazyPayload(payload.byteLength, async function* (signal?: AbortSignal) {
    for await (const chunk of payload.chunks(bytes * 65_536, signal)) {
      const flipped = chunk.slice()
      for (let at = part - 1; at < flipped.byteLength; at += bytes) {
        if (negative) flipped[at] = flipped[at]! ^ 0x80
        if (flipsImaginary) flipped[at + part] = flipped[at + part]! ^ 0x80
      }
      yield flipped
    }
  })
}
