// The importance weights of --imatrix.
import { closeModel, readImportance } from '../../kit-node.js'
import type { Context } from '../context.js'
import { openModels } from './run-inputs.js'

/** By the names of tensors; undefined without a file. */
export async function importanceFrom(
  context: Context,
  path: string | undefined,
): Promise<ReadonlyMap<string, Float32Array> | undefined> {
  if (path === undefined) return undefined
  const [opened] = await openModels(context, [path])
  try {
    return await readImportance(opened!.model, context.signal)
  } finally {
    await closeModel(opened!.model)
    await opened!.source.close()
  }
}
