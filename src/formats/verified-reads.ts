import type { Model, ReadProof, Tensor, VerifiedModel, VerifiedReadOptions } from '../model/index.js'
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
  const payloadOf = implementation?.verifiedPayload
  if (!payloadOf) return { model, proof: undefined }
  const proof: ReadProof = { against: [], pages: 0, pageBytes: 0, tensorBytes: 0, unprovenBytes: 0 }
  const { only } = options
  const tensors = model.tensors.map((tensor): Tensor => {
    if (!tensor.data || (only !== undefined && tensor.name !== only)) return tensor
    const data = payloadOf(model, tensor, options, proof)
    return data ? { ...tensor, data } : tensor
  })
  return { model: { ...model, tensors }, proof }
}
