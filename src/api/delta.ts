// Deltas in one call each: what a model differs in from its base, and the model again from both.
import { type ByteSource, MemorySink } from '../bytes/index.js'
import {
  container,
  type DeltaCounts,
  type DeltaVersions,
  layoutDelta,
  layoutPublicDelta,
  memorySpool,
  type PackDeltaOptions,
  packDelta,
  planApply,
  type Spool,
} from '../delta/index.js'
import { failWith, usageCodes } from '../errors/index.js'
import type { Layout, Model } from '../model/index.js'
import { type WriteLayoutOptions, type WrittenFile, writeLayout } from '../writing/write-layout.js'
import type { MemoryFile, OpenSink } from './convert.js'
import { currentHost, requireHost } from './host.js'
import type { ModelInput } from './input.js'
import { type OpenModelOptions, withModel } from './open-model.js'

interface DeltaOpenOptions extends Omit<OpenModelOptions, 'name' | 'siblings' | 'from'> {
  /** False: an output that exists is an error. Default: it is replaced. */
  readonly overwrite?: boolean | undefined
}

/** How a delta is made. */
export interface DeltaOptions extends DeltaOpenOptions, PackDeltaOptions {
  /** Makes the directory that slime and ModelExpress read, for these versions; the output is that directory. */
  readonly publicForm?: DeltaVersions | undefined
}

/** What was made, and how much of the model changed. */
export interface Delta<File> extends DeltaCounts {
  readonly files: readonly File[]
  /** Why readers of the public form cannot apply it; empty: they can. */
  readonly beyondPublic: readonly string[]
}

/**
 * The exact difference between a model and its base, as a safetensors file: the XOR of the stored bits of each tensor, packed. The output is
 * what it is for `convert`.
 *
 * @example
 * const { changed, files } = await makeDelta('base.safetensors', 'tuned.safetensors', 'update.safetensors')
 */
export async function makeDelta(
  base: ModelInput | Model,
  next: ModelInput | Model,
  output: undefined,
  options?: DeltaOptions,
): Promise<Delta<MemoryFile>>
export async function makeDelta(
  base: ModelInput | Model,
  next: ModelInput | Model,
  output: string | OpenSink,
  options?: DeltaOptions,
): Promise<Delta<WrittenFile>>
export async function makeDelta(
  base: ModelInput | Model,
  next: ModelInput | Model,
  output: string | OpenSink | undefined,
  options: DeltaOptions = {},
): Promise<Delta<WrittenFile | MemoryFile>> {
  const { publicForm, planes = !publicForm } = options
  return withModel(base, options, (from) =>
    withModel(next, options, (to) =>
      withSpool(async (spool) => {
        const checksum = options.checksum ?? (publicForm ? 'adler32' : 'blake3')
        const made = await packDelta(from, to, spool, { ...options, planes, checksum })
        const name = typeof output === 'string' ? fileName(output) : 'update.safetensors'
        const layout = publicForm ? await layoutPublicDelta(made, publicForm) : await layoutDelta(made, name)
        const files = await write(layout, output, [...from.files, ...to.files], !!publicForm, options)
        return { ...made.counts, beyondPublic: made.beyondPublic, files }
      }),
    ),
  )
}

/** How a delta is applied. */
export interface ApplyOptions extends DeltaOpenOptions, Pick<WriteLayoutOptions, 'onProgress' | 'pool'> {}

/** What was made. */
export interface Applied<File> {
  readonly format: string
  /** How many tensors were made from the delta. */
  readonly changed: number
  readonly files: readonly File[]
}

/**
 * The model that a delta was made of, from its base: byte for byte, or not at all. Deltas of slime and ModelExpress are applied too; the
 * output is then the base with other weights.
 *
 * @example
 * await applyDelta('base.safetensors', 'update.safetensors', 'tuned.safetensors')
 */
export async function applyDelta(
  base: ModelInput | Model,
  delta: ModelInput | Model,
  output: undefined,
  options?: ApplyOptions,
): Promise<Applied<MemoryFile>>
export async function applyDelta(
  base: ModelInput | Model,
  delta: ModelInput | Model,
  output: string | OpenSink,
  options?: ApplyOptions,
): Promise<Applied<WrittenFile>>
export async function applyDelta(
  base: ModelInput | Model,
  delta: ModelInput | Model,
  output: string | OpenSink | undefined,
  options: ApplyOptions = {},
): Promise<Applied<WrittenFile | MemoryFile>> {
  return withModel(base, options, (from) =>
    withModel(delta, options, (change) =>
      withSpool(async (spool) => {
        const { layout, format, changed, check } = await planApply(from, change, spool, options)
        const inputs = [...from.files, ...change.files]
        const isSet = layout.files.length > 1
        const files = await write(layout, output, inputs, isSet, { ...options, onWritten: check, digests: ['blake3'] })
        return { format, changed, files }
      }),
    ),
  )
}

async function withSpool<T>(work: (spool: Spool) => Promise<T>): Promise<T> {
  const spool = (await currentHost()?.openSpool()) ?? memorySpool()
  try {
    return await work(spool)
  } finally {
    await spool.close()
  }
}

const fileName = (path: string): string => path.split(/[/\\]/).at(-1) || 'update.safetensors'

type SomeOptions = WriteLayoutOptions & Pick<DeltaOpenOptions, 'overwrite'>

async function write(
  layout: Layout,
  output: string | OpenSink | undefined,
  inputs: readonly ByteSource[],
  isSet: boolean,
  options: SomeOptions,
): Promise<(WrittenFile | MemoryFile)[]> {
  const made = new Map<string, Uint8Array>()
  const { signal, pool, onProgress, onWritten, digests, overwrite } = options
  const settings = { signal, pool, onProgress, onWritten, ...(digests && { digests }) }
  if (typeof output !== 'string') {
    const open = output ?? (async (name: string) => new MemorySink(name, made))
    const written = await writeLayout(layout, open, settings)
    return written.map((file) => {
      const bytes = made.get(file.name) as Uint8Array<ArrayBuffer> | undefined
      return bytes ? { name: file.name, bytes } : file
    })
  }
  const place = await requireHost(output).place(output, { to: container.id, inputs, overwrite })
  const [main, ...others] = layout.files
  const isFolder = place.pathOf('x') !== place.pathOf(place.name) && /[/\\]$/.test(output)
  if (isSet && !isFolder && main!.name !== place.name)
    failWith(usageCodes.option, {
      file: output,
      message: `${layout.files.length} files are written; name a directory, with a slash at its end`,
    })
  const named = isSet || isFolder ? layout : { files: [{ ...main!, name: place.name }, ...others] }
  const written = await writeLayout(named, place.open, settings)
  return written.map((file) => ({ ...file, name: place.pathOf(file.name) }))
}
