import { findFile } from '../content/companions.js'
import { TareError } from '../errors/index.js'
import { type Model, readPayload } from '../model/index.js'

/** A small file that the model brings or that lies beside it; undefined when there is none or it cannot be read. */
export async function readSibling(model: Model, name: string, largest: number): Promise<Uint8Array | undefined> {
  try {
    const carried = findFile(model.parts, name)?.data
    if (carried) return carried.byteLength <= largest ? await readPayload(carried) : undefined
    const source = await model.files[0]?.sibling?.(name)
    return source && source.size <= largest ? await source.read(0, source.size) : undefined
  } catch (error) {
    if (error instanceof TareError) return undefined
    throw error
  }
}
