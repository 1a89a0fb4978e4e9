// Digests of tensors, and a fingerprint of the whole model.
//
// The fingerprint is the digest of one line per tensor, sorted by name: name, element type, shape and the digest of the bytes in row-major
// order. It does not depend on the container, on the order of tensors, or on the order of elements in the file. Stowed content is restored
// first, as when two models are compared.
import { compareUtf8, encodeUtf8, toHex } from '../bytes/index.js'
import { type Algorithm, digestOf } from '../digest/index.js'
import type { Dim, Model, Payload, Tensor } from '../model/index.js'
import { shownDims } from '../model/model.js'
import { restoreStowed } from '../stow/index.js'
import type { WorkerPool } from '../threads/index.js'
import { decodedPayload } from '../transforms/decode.js'
import { orientFor } from '../transforms/orientation.js'
import { rowMajor } from '../transforms/reorder.js'
import { digestPayloads } from './digest-payloads.js'

export { digestPayload } from './digest-payloads.js'

export interface HashOptions {
  readonly algorithm?: Algorithm
  /** Digest the values as little-endian f32 in row-major order instead of the stored bytes. */
  readonly decoded?: boolean | undefined
  /** False: stowed content is hashed as it is stored. */
  readonly stow?: boolean | undefined
  /** Threads that large work can be spread over. */
  readonly pool?: WorkerPool | undefined
  readonly signal?: AbortSignal | undefined
  /** Called as tensors are read; `done` and `total` are bytes. */
  readonly onProgress?: ((progress: { done: number; total: number; path: string }) => void) | undefined
}

export interface HashedTensor {
  readonly name: string
  readonly path?: readonly string[]
  readonly stat?: string
  readonly dtype: string
  readonly encoding?: string
  readonly shape: readonly Dim[]
  /** null: declared without data, or (with `decoded`) of a type whose values cannot be decoded. */
  readonly digest: string | null
}

/** Digests of all tensors and the fingerprint of the model. */
export interface HashResult {
  readonly file: string
  readonly format: string
  /** Which of the format's layouts the file uses, if there are several. */
  readonly variant?: string
  readonly algorithm: Algorithm
  readonly decoded?: true
  readonly fingerprint: string
  readonly tensors: readonly HashedTensor[]
}

export async function hashModel(source: Model, options: HashOptions = {}): Promise<HashResult> {
  const algorithm = options.algorithm ?? 'blake3'
  const model = options.stow === false ? source : (await restoreStowed(source)).model
  // If a model states the orientation of its linear weights, they are hashed as [out, in].
  const { tensors: turned } = orientFor(model, undefined).model
  const wanted = model.tensors.map((tensor, i) => payloadsOf(tensor, turned.at(i)!, options.decoded ?? false))
  const digests = await digestPayloads(wanted.flat(), algorithm, {
    ...options,
    name: model.files[0]?.name ?? '',
  })
  const lines: { name: string; line: string }[] = []
  const tensors: HashedTensor[] = []
  for (const [i, tensor] of model.tensors.entries()) {
    const shape = shownDims(tensor)
    const [canonical, stored = canonical] = wanted[i]!.map((payload) => digests.get(payload)!)
    tensors.push({
      name: tensor.name,
      ...(tensor.path && { path: tensor.path }),
      ...(tensor.stat !== undefined && { stat: tensor.stat }),
      dtype: tensor.dtype.id,
      ...(tensor.encoding && { encoding: tensor.encoding.id }),
      shape,
      digest: stored ?? null,
    })
    const dtype = options.decoded ? 'f32' : (tensor.encoding ?? tensor.dtype).id
    lines.push({
      name: tensor.name,
      line: JSON.stringify([tensor.name, dtype, shownDims(turned.at(i)!), canonical ?? null]),
    })
  }
  lines.sort((a, b) => compareUtf8(a.name, b.name))
  const text = `tare fingerprint 1\n${lines.map(({ line }) => `${line}\n`).join('')}`
  return {
    file: model.files[0]?.name ?? '',
    format: model.format,
    ...(model.variant !== undefined && { variant: model.variant }),
    algorithm,
    ...(options.decoded && { decoded: true as const }),
    fingerprint: toHex(await digestOf(algorithm, encodeUtf8(text))),
    tensors,
  }
}

/** The payload that the fingerprint covers and, if it differs, the stored one. Empty if there are no bytes to hash. */
function payloadsOf(tensor: Tensor, turned: Tensor, decoded: boolean): readonly Payload[] {
  if (!tensor.data) return []
  const inOrder = rowMajor(turned)
  if (!decoded) return inOrder.data === tensor.data ? [tensor.data] : [inOrder.data!, tensor.data]
  const canonical = decodedPayload(inOrder, 'f32')
  if (!canonical) return []
  return turned === tensor ? [canonical] : [canonical, decodedPayload(rowMajor(tensor), 'f32')!]
}
