// The importance weights that an importance matrix holds. For every weight it has sums of squared activations, `NAME.in_sum2`, and how many were
// summed, `NAME.counts`, one for each expert; the quotient tells how much the error of a column counts.
import { viewOf } from '../../bytes/views.js'
import { failWith } from '../../errors/index.js'
import { type Model, readPayload, type Tensor } from '../../model/index.js'
import { transformCodes } from '../codes.js'
import { fileOf } from '../map-elements.js'

const sumsSuffix = '.in_sum2'
const countsSuffix = '.counts'
const { fround } = Math

/** The weights by the name of the tensor that they are for; for several matrices (experts) one after another. */
export async function readImportance(model: Model, signal?: AbortSignal): Promise<Map<string, Float32Array>> {
  const byName = new Map(model.tensors.map((tensor) => [tensor.name, tensor]))
  const found = new Map<string, Float32Array>()
  for (const tensor of model.tensors) {
    const [name, other] = partnerOf(tensor.name) ?? []
    if (name === undefined) continue
    const partner = byName.get(other!)
    if (!partner) refuse(tensor, `there is no ${other}`)
    if (!tensor.name.endsWith(sumsSuffix)) continue
    found.set(name, await weightsOf(tensor, partner, signal))
  }
  if (found.size > 0) return found
  const message = `no tensor is called NAME${sumsSuffix}; this is not an importance matrix`
  return failWith(transformCodes.importance, { file: model.files[0]?.name ?? '', path: 'tensors', message })
}

/** The name of the weight, and of the tensor that goes with this one. */
function partnerOf(name: string): readonly [string, string] | undefined {
  for (const [own, other] of [
    [sumsSuffix, countsSuffix],
    [countsSuffix, sumsSuffix],
  ] as const) {
    if (name.endsWith(own)) return [name.slice(0, -own.length), name.slice(0, -own.length) + other]
  }
  return undefined
}

/** Quotients in f32. An expert that was never used has no sums; all its columns count the same. */
async function weightsOf(sums: Tensor, counts: Tensor, signal?: AbortSignal): Promise<Float32Array> {
  const [values, calls] = [await floatsOf(sums, signal), await floatsOf(counts, signal)]
  const columns = values.length / calls.length
  if (calls.length === 0 || !Number.isInteger(columns) || columns < 1)
    refuse(sums, `${values.length} sums do not go with ${calls.length} counts`)
  const weights = new Float32Array(values.length)
  for (let i = 0; i < values.length; i++) {
    const count = roundAway(calls[Math.floor(i / columns)]!)
    weights[i] = count > 0 ? values[i]! / fround(count) : 1
    if (!Number.isFinite(weights[i]!)) refuse(sums, `value ${i} is ${values[i]}`)
    if (weights[i]! < 0) refuse(sums, `value ${i} is ${values[i]}, and no sum of squares is negative`)
  }
  return weights
}

export interface MatrixOrigin {
  /** The name of the file, without its folder. */
  readonly file: string
  /** The text that it was made from. */
  readonly dataset?: string | undefined
  readonly entries: number
  readonly chunks: number
}

/** Where importance weights come from, as models that were quantized with them state it. */
export function originOf({ metadata, files: [main] }: Model, entries: number): MatrixOrigin {
  const datasets = metadata.get('imatrix.datasets')
  const [first] = datasets?.type === 'array' ? (datasets.slice?.(0, 1) ?? datasets.values()) : []
  const chunks = metadata.get('imatrix.chunk_count')
  return {
    file: (main?.name ?? '').replace(/^.*[/\\]/, ''),
    dataset: first?.type === 'str' ? first.value : undefined,
    entries,
    chunks: chunks?.type === 'u32' ? Number(chunks.value) : 0,
  }
}

const roundAway = (value: number): number => Math.floor(value + 0.5)

async function floatsOf(tensor: Tensor, signal?: AbortSignal): Promise<Float32Array> {
  if (tensor.dtype.id !== 'f32' || !tensor.data) refuse(tensor, `its type is ${tensor.dtype.id}, and it must be f32`)
  const bytes = await readPayload(tensor.data!, signal)
  return Float32Array.from(viewOf(Float32Array, bytes, bytes.byteLength / 4))
}

function refuse(tensor: Tensor, message: string): never {
  const offset = tensor.data?.origin?.offset
  return failWith(transformCodes.importance, {
    file: fileOf(tensor.data),
    path: tensor.name,
    ...(offset !== undefined && { offset }),
    message,
  })
}
