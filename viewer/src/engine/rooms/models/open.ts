// Opening models: which of some files belong together, the models that are open, and what is known about one at once.
import { type Finding, formats, type ModelSummary, openModel as readModel, summarizeModel } from 'tare/kit'
import type { Call } from '../../calls.js'
import type { CallContext, Handlers } from '../../serve.js'
import { groupFiles } from './group-files.js'
import { closeOpened, setInput, setOpened } from './opened.js'
import { openInput } from './sources.js'

/** A file with its path below what was chosen or dropped. */
export interface NamedFile {
  readonly path: string
  readonly file: Blob
}

/** What a model is opened from: files with the main one first, or an address. */
export type ModelFiles =
  | { readonly kind: 'files'; readonly files: readonly NamedFile[]; readonly isFolder: boolean }
  | {
      readonly kind: 'address'
      readonly address: string
      /** How the command calls it, where the command serves it. */
      readonly name?: string | undefined
      /** Where the model is a directory. */
      readonly folder?: { readonly name: string; readonly files: readonly string[] } | undefined
    }

export interface FileGroup {
  /** The main file first. */
  readonly paths: readonly string[]
  readonly isFolder: boolean
}

export interface TypeShare {
  readonly type: string
  readonly tensors: number
  readonly values: number
  readonly bytes: number
}

/** What the shell and the overview show; plain data. */
export interface ModelHead extends ModelSummary {
  readonly format: string
  readonly formatTitle: string
  readonly version?: string | undefined
  readonly variant?: string | undefined
  readonly files: readonly { readonly name: string; readonly size: number }[]
  readonly size: number
  readonly tensors: number
  readonly metadata: number
  /** By bytes, descending. */
  readonly types: readonly TypeShare[]
  /** Warnings and notes from opening. */
  readonly findings: readonly Finding[]
}

export interface OpenCalls {
  group: Call<{ readonly paths: readonly string[] }, readonly FileGroup[]>
  open: Call<{ readonly model: number; readonly from: ModelFiles }, ModelHead>
  close: Call<{ readonly model: number }, void>
}

export const openHandlers: Handlers = {
  group: ({ paths }: OpenCalls['group']['ask']) => groupFiles(paths, formats),
  open,
  close: ({ model }: OpenCalls['close']['ask']) => closeOpened(model),
}

async function open({ model: id, from }: OpenCalls['open']['ask'], { signal }: CallContext): Promise<ModelHead> {
  const findings: Finding[] = []
  setInput(id, from)
  const source = await openInput(from, signal)
  try {
    const model = await readModel(source, { signal, onFinding: (finding) => findings.push(finding) })
    const types = typeShares(model.tensors)
    const summary = await summarizeModel(model, signal)
    await setOpened(id, { model, source, from })
    const files = model.files.map(({ name, size }) => ({ name: name.replace(/^.*[/\\]/, ''), size }))
    return {
      ...summary,
      format: model.format,
      formatTitle: formats.find(({ id }) => id === model.format)?.title ?? model.format,
      version: model.version,
      variant: model.variant,
      files,
      size: files.reduce((sum, { size }) => sum + size, 0),
      tensors: model.tensors.length,
      metadata: model.metadata.size,
      types,
      findings,
    }
  } catch (error) {
    await source.close()
    throw error
  }
}

function typeShares(tensors: Awaited<ReturnType<typeof readModel>>['tensors']): TypeShare[] {
  const shares = new Map<string, { type: string; tensors: number; values: number; bytes: number }>()
  for (const { dtype, encoding, shape, data } of tensors) {
    const type = (encoding ?? dtype).id
    let share = shares.get(type)
    if (!share) {
      share = { type, tensors: 0, values: 0, bytes: 0 }
      shares.set(type, share)
    }
    share.tensors++
    share.values += shape.reduce((product, dim) => product * dim, 1)
    share.bytes += data?.byteLength ?? 0
  }
  return [...shares.values()].sort((a, b) => b.bytes - a.bytes)
}
