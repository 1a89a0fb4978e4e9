import {
  MemorySource,
  type Model,
  type ModelDescription,
  type PackOptions,
  packModel,
  TareError,
} from '../../src/kit.js'
import { readPayload } from '../../src/model/index.js'

/** Packs anything, also what the types forbid. */
export const pack = (description: unknown, options?: PackOptions): Promise<Model> =>
  packModel(description as ModelDescription, options)

/** The values of a tensor, in row-major order. */
export async function valuesOf(model: Model, name: string): Promise<unknown[]> {
  const tensor = model.tensors.find((each) => each.name === name)!
  const bytes = await readPayload(tensor.data!)
  const count = tensor.shape.reduce((product, dim) => product * dim, 1)
  return Array.from({ length: count }, (_, i) => tensor.dtype.codec!.element(bytes, i))
}

export interface Refusal {
  readonly code: string
  readonly path: string | undefined
  readonly message: string
}

/** What a call was refused with. */
export async function refusalOf(call: () => Promise<unknown> | unknown): Promise<Refusal> {
  try {
    await call()
  } catch (error) {
    if (!(error instanceof TareError)) throw error
    const { code, path, message } = error.finding
    return { code, path, message }
  }
  throw new Error('nothing was refused')
}

/** Files in memory for `readFile`. */
export function filesOf(files: Readonly<Record<string, Uint8Array>>): PackOptions {
  return {
    async readFile(name) {
      const bytes = files[name]
      if (!bytes) throw new TareError({ code: 'io/not-found', severity: 'error', file: name, message: 'not there' })
      return new MemorySource(bytes, name)
    },
  }
}

export const bytesOf = (array: ArrayBufferView): Uint8Array =>
  new Uint8Array(array.buffer, array.byteOffset, array.byteLength)
