// What the older form can hold: for each weight the sums of all its columns and one number of calls. The GGUF form counts tokens, and those of
// every expert by themselves; llama.cpp turns its sums into means times calls, and so does tare. Quantizers get the same weights from both.
import { countElements } from '../../bytes/index.js'
import {
  type Fit,
  lazyPayload,
  type MetaValue,
  type Model,
  type Payload,
  readPayload,
  type Tensor,
  type WriteCapabilities,
} from '../../model/index.js'
import { chunkCountKey, chunkSizeKey, countsSuffix, datasetsKey, numberAt, sumsSuffix, typeKey } from './names.js'

const { fround } = Math

export function writeFor(model: Model): WriteCapabilities {
  const byName = new Map(model.tensors.map((tensor) => [tensor.name, tensor]))
  const chunkSize = Math.max(1, numberAt(model.metadata, chunkSizeKey))
  return {
    tensor: (tensor) => fitTensor(tensor, byName, chunkSize),
    metadata: fitMetadata,
    part: () => ({ fits: false, reason: 'an importance matrix holds no parts' }),
    order: 'row',
    shards: false,
    arranges: (tensors) => tensors.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
  }
}

function fitTensor(tensor: Tensor, byName: ReadonlyMap<string, Tensor>, chunkSize: number): Fit<Tensor> {
  const isSums = tensor.name.endsWith(sumsSuffix)
  const suffix = isSums ? sumsSuffix : countsSuffix
  const stem = tensor.name.endsWith(suffix) ? tensor.name.slice(0, -suffix.length) : ''
  const [sums, counts] = [byName.get(stem + sumsSuffix), byName.get(stem + countsSuffix)]
  if (stem === '' || !sums?.data || !counts?.data)
    return { fits: false, reason: 'an importance matrix holds sums and counts only, in pairs' }
  if (sums.dtype.id !== 'f32' || counts.dtype.id !== 'f32') return { fits: false, reason: 'sums and counts are f32' }
  const [values, matrices] = [countElements(sums.shape) ?? 0, countElements(counts.shape) ?? 0]
  if (values < 1 || matrices < 1 || values % matrices !== 0 || values > 0x7fffffff)
    return { fits: false, reason: `${values} sums do not go with ${matrices} counts` }
  const shape = isSums ? [values] : [1]
  if (matrices === 1 && chunkSize === 1)
    return shapeOf(tensor) === shape.join() ? { fits: true } : asForm(tensor, shape)
  const data = isSums ? meansTimesCalls(sums, counts, chunkSize) : callsOf(counts, chunkSize)
  return asForm({ ...tensor, data }, shape)
}

const shapeOf = ({ shape }: Tensor): string => shape.join()

const asForm = (tensor: Tensor, shape: readonly number[]): Fit<Tensor> => ({
  fits: true,
  as: { ...tensor, shape },
  loss: 'form',
  reason: 'sums are stored as means times calls, which gives the same weights',
})

async function floatsOf(tensor: Tensor, signal?: AbortSignal): Promise<Float32Array> {
  return new Float32Array((await readPayload(tensor.data!, signal)).buffer)
}

/** Tokens that went into the sums of each expert, as whole numbers. */
const tokensOf = async (counts: Tensor, signal?: AbortSignal): Promise<Float32Array> =>
  (await floatsOf(counts, signal)).map((count) => Math.max(0, Math.floor(count + 0.5)))

/** As many as chunks that the most used expert has seen. Where none was ever used, one. */
const callsFor = (tokens: Float32Array, chunkSize: number): number =>
  Math.max(1, Math.ceil(tokens.reduce((max, count) => Math.max(max, count), 0) / chunkSize))

const callsOf = (counts: Tensor, chunkSize: number): Payload =>
  lazyPayload(4, async function* (signal) {
    yield new Uint8Array(Float32Array.of(callsFor(await tokensOf(counts, signal), chunkSize)).buffer)
  })

/** In f32 arithmetic. All columns of an expert that was never used count the same. */
const meansTimesCalls = (sums: Tensor, counts: Tensor, chunkSize: number): Payload =>
  lazyPayload(sums.data!.byteLength, async function* (signal) {
    const tokens = await tokensOf(counts, signal)
    const calls = callsFor(tokens, chunkSize)
    const columns = sums.data!.byteLength / 4 / tokens.length
    let first = 0
    for await (const chunk of sums.data!.chunks(1 << 18, signal)) {
      const values = new Float32Array(chunk.slice().buffer)
      for (let i = 0; i < values.length; i++) {
        const count = tokens[Math.floor((first + i) / columns)]!
        values[i] = fround(count === 0 ? 1 : values[i]! / count) * calls
      }
      first += values.length
      yield new Uint8Array(values.buffer)
    }
  })

function fitMetadata(key: string, value: MetaValue): Fit<MetaValue> {
  if (key === typeKey && value.type === 'str' && value.value === 'imatrix') return { fits: true }
  if (key === chunkCountKey && value.type === 'u32' && Number(value.value) <= 0x7fffffff) return { fits: true }
  if (key === chunkSizeKey && value.type === 'u32') {
    const one: MetaValue = { type: 'u32', value: 1 }
    return Number(value.value) === 1 ? { fits: true } : { fits: true, as: one, loss: 'form', reason: 'it counts calls' }
  }
  if (key !== datasetsKey || value.type !== 'array' || value.item !== 'str')
    return { fits: false, reason: 'an importance matrix has no place for it' }
  if (value.length <= 1) return { fits: true }
  // llama.cpp keeps the last one.
  const last = value.values().slice(-1)
  const as: MetaValue = { type: 'array', item: 'str', length: 1, values: () => last }
  return { fits: true, as, loss: 'content', reason: 'there is room for the name of one text' }
}
