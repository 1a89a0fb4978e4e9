// Reads a rename map: a JSON or YAML object with old names as keys and new names as values.
import { extname } from 'node:path'
import { failWith, usageCodes } from '../errors/index.js'
import { parseDescription } from '../pack/read-json.js'
import { FileSource } from './files/file-source.js'

/** A name takes at most some hundred bytes, and no model has more than a million. */
const maxBytes = 256 << 20

/** Duplicate names, and values that are not names, are refused. */
export async function readNameMap(file: string): Promise<Map<string, string>> {
  const source = await FileSource.open(file)
  try {
    const refuse = (message: string, path?: string): never =>
      failWith(usageCodes.option, { file, message, ...(path !== undefined && { path }) })
    if (source.size > maxBytes) refuse(`it has ${source.size} bytes, a map of names at most ${maxBytes}`)
    const bytes = await source.read(0, source.size)
    const root = isYaml(file)
      ? (await import('./pack/pack-yaml.js')).parseYamlDescription(bytes, file)
      : parseDescription(bytes, file)
    if (!(root instanceof Map)) return refuse('this is not a map of old names to new ones, such as {"old": "new"}')
    for (const [name, to] of root)
      if (typeof to !== 'string' || to === '') refuse('a new name is a text that is not empty', name)
    return root as Map<string, string>
  } finally {
    await source.close()
  }
}

const isYaml = (file: string): boolean => ['.yaml', '.yml'].includes(extname(file).toLowerCase())
