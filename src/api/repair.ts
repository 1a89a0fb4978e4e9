// Repairing in one call.
import { MemorySink } from '../bytes/index.js'
import { type PlannedRepair, planRepair, runRepair } from '../convert/repair/repair.js'
import type { FormatId } from '../formats/index.js'
import type { WriteLayoutOptions, WrittenFile } from '../writing/write-layout.js'
import type { MemoryFile, OpenSink } from './convert.js'
import { requireHost } from './host.js'
import { type ModelInput, openSource } from './input.js'
import type { OpenModelOptions } from './open-model.js'

/** How a damaged file is opened and rebuilt. */
export interface RepairOptions extends OpenModelOptions, Pick<WriteLayoutOptions, 'onProgress' | 'pool'> {
  /** False: an output that exists is an error. Default: it is replaced. */
  readonly overwrite?: boolean | undefined
}

/** What was wrong, what was rebuilt, what is lost, and the files that were written. */
export interface Repaired<File> extends Pick<PlannedRepair, 'format' | 'findings' | 'repaired' | 'lost' | 'salvage'> {
  readonly files: readonly File[]
}

/**
 * Rebuilds a damaged file, or saves what is whole of it, such as the tensors that a cut download still has. The input stays as it is. The
 * output is what it is for `convert`.
 *
 * @example
 * const { repaired, lost } = await repair('cut.gguf', 'saved.gguf')
 */
export async function repair(
  input: ModelInput,
  output: undefined,
  options?: RepairOptions,
): Promise<Repaired<MemoryFile>>
export async function repair(
  input: ModelInput,
  output: string | OpenSink,
  options?: RepairOptions,
): Promise<Repaired<WrittenFile>>
export async function repair(
  input: ModelInput,
  output: string | OpenSink | undefined,
  options: RepairOptions = {},
): Promise<Repaired<WrittenFile | MemoryFile>> {
  const source = await openSource(input, options)
  try {
    const name = (typeof output === 'string' ? output : source.name).split(/[/\\]/).at(-1) || 'model'
    const plan = await planRepair(source, { ...options, name })
    const { format, findings, repaired, lost, salvage } = plan
    const made = new Map<string, Uint8Array>()
    const place =
      typeof output === 'string'
        ? await requireHost(output).place(output, { ...options, to: format as FormatId, inputs: [source] })
        : { open: output ?? (async (file: string) => new MemorySink(file, made)), pathOf: (file: string) => file }
    const { onProgress, pool, signal } = options
    const written = await runRepair(plan, place.open, { onProgress, pool, signal })
    const files = written.map((file) => {
      const bytes = made.get(file.name) as Uint8Array<ArrayBuffer> | undefined
      return bytes ? { name: file.name, bytes } : { ...file, name: place.pathOf(file.name) }
    })
    return { format, findings, repaired, lost, ...(salvage && { salvage }), files }
  } finally {
    if (source !== input) await source.close()
  }
}
