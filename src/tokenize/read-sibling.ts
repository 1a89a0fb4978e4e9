import { TareError } from '../errors/index.js'
import type { Model } from '../model/index.js'

/** A small file beside the model, or undefined when there is none or it cannot be read. The model's source closes it. */
export async function readSibling(model: Model, name: string, largest: number): Promise<Uint8Array | undefined> {
  try {
    const source = await model.files[0]?.sibling?.(name)
    return source && source.size <= largest ? await source.read(0, source.size) : undefined
  } catch (error) {
    if (error instanceof TareError) return undefined
    throw error
  }
}
