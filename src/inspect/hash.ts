// Digests of tensors, and a fingerprint of the whole model.
//
// The fingerprint is the digest of one line per tensor, sorted by name: name, element type, shape and the digest of the bytes in
// row-major order. So it does not depend on the container, on the order of tensors, or on the order of elements in the file.
import { compareUtf8, defaultWindow, encodeUtf8, toHex } from '../bytes/index.js'
import { type Algorithm, createHasher, digestOf } from '../digest/index.js'
import { failWith, ioCodes } from '../errors/index.js'
import type { Model, Payload, Tensor } from '../model/index.js'
import { decodedPayload } from '../transforms/decode.js'
import { rowMajor } from '../transforms/reorder.js'

export interface HashOptions {
  readonly algorithm?: Algorithm
  /** Digest the values as little-endian f32 in row-major order instead of the stored bytes. */
  readonly decoded?: boolean | undefined
  readonly signal?: AbortSignal | undefined
  readonly onProgress?: ((progress: { done: number; total: number; path: string }) => void) | undefined
}

export interface HashedTensor {
  readonly name: string
  readonly path?: readonly string[]
  readonly stat?: string
  readonly dtype: string
  readonly encoding?: string
  readonly shape: readonly number[]
  /** null: declared without data, or (with `decoded`) of a type whose values cannot be decoded. */
  readonly digest: string | null
}

export interface HashResult {
  readonly file: string
  readonly format: string
  /** Which of the format's layouts it has, where there is more than one. */
  readonly variant?: string
  readonly algorithm: Algorithm
  readonly decoded?: true
  readonly fingerprint: string
  readonly tensors: readonly HashedTensor[]
}

export async function hashModel(model: Model, options: HashOptions = {}): Promise<HashResult> {
  const algorithm = options.algorithm ?? 'blake3'
  const total = model.tensors.reduce((sum, tensor) => sum + (tensor.data?.byteLength ?? 0), 0)
  let done = 0
  const tensors: HashedTensor[] = []
  const lines: { name: string; line: string }[] = []
  for (const tensor of model.tensors) {
    const advance = (bytes: number): void => options.onProgress?.({ done: done + bytes, total, path: tensor.name })
    const hash = (payload: Payload): Promise<string> => digestPayload(payload, algorithm, options.signal, advance)
    const canonical = canonicalPayload(tensor, options.decoded ?? false)
    const digest = canonical && (await hash(canonical))
    const stored = options.decoded || tensor.order === 'row' || !tensor.data ? digest : await hash(tensor.data)
    tensors.push({
      name: tensor.name,
      ...(tensor.path && { path: tensor.path }),
      ...(tensor.stat !== undefined && { stat: tensor.stat }),
      dtype: tensor.dtype.id,
      ...(tensor.encoding && { encoding: tensor.encoding.id }),
      shape: tensor.shape,
      digest: stored,
    })
    const dtype = options.decoded ? 'f32' : (tensor.encoding ?? tensor.dtype).id
    lines.push({ name: tensor.name, line: JSON.stringify([tensor.name, dtype, tensor.shape, digest]) })
    done += tensor.data?.byteLength ?? 0
    advance(0)
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

function canonicalPayload(tensor: Tensor, decoded: boolean): Payload | null {
  if (!tensor.data) return null
  const inOrder = rowMajor(tensor)
  if (!decoded) return inOrder.data
  return decodedPayload(inOrder, 'f32') ?? null
}

export async function digestPayload(
  payload: Payload,
  algorithm: Algorithm,
  signal?: AbortSignal,
  advance?: (bytes: number) => void,
): Promise<string> {
  const hasher = await createHasher(algorithm)
  let length = 0
  for await (const chunk of payload.chunks(defaultWindow, signal)) {
    hasher.update(chunk)
    length += chunk.byteLength
    advance?.(length)
  }
  if (length !== payload.byteLength) {
    const message = `${length} bytes of ${payload.byteLength} came`
    failWith(ioCodes['short-read'], { file: payload.origin?.source.name ?? '', message })
  }
  return toHex(hasher.digest())
}
