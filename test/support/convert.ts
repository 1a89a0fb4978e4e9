import {
  type ConvertOptions,
  MemorySink,
  MemorySource,
  type Model,
  planConversion,
  runConversion,
} from '../../src/kit.js'

/** Writes a model in memory and gives back the files by name, the main one first. */
export async function convertToFiles(
  model: Model,
  target: string,
  options: Partial<ConvertOptions> = {},
): Promise<Map<string, Uint8Array>> {
  const conversion = await planConversion(model, target, { name: 'out', ...options })
  const files = new Map<string, Uint8Array>()
  await runConversion(conversion, async (name) => new MemorySink(name, files), { allowLoss: 'content' })
  const main = conversion.layout.files[0]!.name
  return new Map([[main, files.get(main)!], ...files])
}

export function sourceOf(files: ReadonlyMap<string, Uint8Array>): MemorySource {
  const [name, bytes] = [...files][0]!
  return new MemorySource(bytes, name, files)
}
