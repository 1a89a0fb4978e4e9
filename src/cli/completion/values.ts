// What flags accept, as the library knows it. Loaded when such a flag is completed.
import { closeModel, dtypes, formats, isRemote, methodNames, mixNames, openInput, openModel } from '../../kit-node.js'
import { isWritable } from '../output/output.js'

export const formatIds = (): readonly string[] => formats.map(({ id }) => id)

export const writtenFormatIds = (): readonly string[] => formats.filter(isWritable).map(({ id }) => id)

export const elementTypeIds = (): readonly string[] =>
  [...dtypes.values()].filter((each) => each.codec).map(({ id }) => id)

export const methodIds = (): readonly string[] => [...methodNames(), ...mixNames()].sort()

/** More would not help anybody who types. */
const maxNames = 2000

/** Of a file here that opens; none otherwise. */
export async function tensorNames(input: string): Promise<readonly string[]> {
  if (isRemote(input)) return []
  try {
    const model = await openModel(await openInput(input), {})
    const names = model.tensors.slice(0, maxNames).map(({ name }) => name)
    await closeModel(model)
    return names
  } catch {
    return []
  }
}
