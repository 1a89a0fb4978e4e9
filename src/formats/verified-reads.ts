import type { Implementation, Model, ReadProof, Tensor, VerifiedModel, VerifiedReadOptions } from '../model/index.js'
import { formatById } from './open.js'

/**
 * The same model; reading its tensors throws when the bytes are not what the file's hashes say. `only` names the one tensor that will be
 * read, where the others need no care.
 */
export async function withVerifiedReads(
  model: Model,
  options: VerifiedReadOptions & { readonly only?: string | undefined } = {},
): Promise<VerifiedModel> {
  const implementation = await formatById(model.format)?.load()
  if (!implementation?.verifiedPayload) return { model, proof: undefined }
  const proof: ReadProof = { against: [], pages: 0, pageBytes: 0, tensorBytes: 0, unprovenBytes: 0 }
  const { only } = options
  const tensors = model.tensors.map((tensor) =>
    only !== undefined && tensor.name !== only ? tensor : verified(implementation, model, tensor, options, proof),
  )
  return { model: { ...model, tensors }, proof }
}

/** The same for one tensor of a model. */
export async function verifiedTensor(model: Model, tensor: Tensor): Promise<Tensor> {
  const implementation = await formatById(model.format)?.load()
  const proof: ReadProof = { against: [], pages: 0, pageBytes: 0, tensorBytes: 0, unprovenBytes: 0 }
  return implementation ? verified(implementation, model, tensor, {}, proof) : tensor
}

function verified(
  { verifiedPayload }: Implementation,
  model: Model,
  tensor: Tensor,
  options: VerifiedReadOptions,
  proof: ReadProof,
): Tensor {
  const data = tensor.data && verifiedPayload?.(model, tensor, options, proof)
  return data ? { ...tensor, data } : tensor
}
