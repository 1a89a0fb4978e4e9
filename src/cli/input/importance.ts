// The importance weights of --imatrix.
import { closeModel, type MatrixOrigin, originOf, readImportance } from '../../kit-node.js'
import type { Context } from '../context.js'
import { openModels } from './run-inputs.js'

export interface Importance {
  /** By the names of tensors. */
  readonly importance: ReadonlyMap<string, Float32Array>
  readonly importanceOrigin: MatrixOrigin
}

/** Undefined without a file. */
export async function importanceFrom(context: Context, path: string | undefined): Promise<Importance | undefined> {
  if (path === undefined) return undefined
  const [opened] = await openModels(context, [path])
  try {
    const importance = await readImportance(opened!.model, context.signal)
    return { importance, importanceOrigin: originOf(opened!.model, importance.size) }
  } finally {
    await closeModel(opened!.model)
    await opened!.source.close()
  }
}
