// Files that map names of tensors to texts, such as other names or methods.
import { readNameMap, TareError } from '../../kit-node.js'
import { UsageError } from '../status.js'

/** Whatever is wrong with the map, nothing can be done without it. */
export async function nameMapFrom(flag: string, file: string): Promise<Map<string, string>> {
  try {
    return await readNameMap(file)
  } catch (error) {
    if (!(error instanceof TareError)) throw error
    const { path, code, message } = error.finding
    throw new UsageError(`${flag} ${file}: ${path ? `${path}: ` : ''}${message} (${code})`)
  }
}
