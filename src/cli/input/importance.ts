// The importance weights of --imatrix.
import { closeModel, openInput, openModel, readImportance } from '../../kit-node.js'
import type { Context } from '../context.js'

/** By the names of tensors; undefined without a file. */
export async function importanceFrom(
  { signal }: Context,
  path: string | undefined,
): Promise<ReadonlyMap<string, Float32Array> | undefined> {
  if (path === undefined) return undefined
  const model = await openModel(await openInput(path, { signal }), { signal })
  try {
    return await readImportance(model, signal)
  } finally {
    await closeModel(model)
  }
}
