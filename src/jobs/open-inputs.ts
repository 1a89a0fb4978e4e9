// The inputs of a job: opened as the job names them, and compared with what they were when it was planned.
import { type ByteSource, checkAborted, renamedSource } from '../bytes/index.js'
import { parseVocabularyText } from '../content/vocabulary-text.js'
import { mergeModels } from '../convert/merge/merge.js'
import type { QuantizeSettings } from '../convert/options.js'
import type { ConvertOptions } from '../convert/plan.js'
import { type Finding, failWith } from '../errors/index.js'
import { openModel } from '../formats/index.js'
import { closeModel, type Model } from '../model/index.js'
import { originOf, readImportance } from '../transforms/quantize/importance.js'
import { jobCodes } from './codes.js'
import type { JobInput, PinnedFile } from './job.js'
import type { JobOptions } from './options.js'

/** An input without what is pinned. */
export type NamedInput = Omit<JobInput, 'files'>

/** How inputs are opened here. */
export interface OpenRequest {
  open(address: string): Promise<ByteSource>
  readonly signal?: AbortSignal | undefined
  /** Called for each warning and note about an input. */
  readonly onFinding?: ((finding: Finding) => void) | undefined
}

export interface OpenedInputs {
  /** What is converted; several models that are merged are one. */
  readonly model: Model
  /** What the others add to the options of the conversion. */
  readonly options: Pick<ConvertOptions, 'stateFrom' | 'parts' | 'before'>
  readonly importance?: Importance | undefined
  /** The same inputs with all of their files. */
  readonly pinned: readonly JobInput[]
  /** Throws when an input changed since it was opened. */
  assertUnchanged(): Promise<void>
  close(): Promise<void>
}

type Importance = Pick<QuantizeSettings, 'importance' | 'importanceOrigin'>

/** Lists of tokens are short texts. */
const maxVocabulary = 256 << 20

export async function openInputs(
  inputs: readonly NamedInput[],
  { prefer, ownState, only, exclude, without, stow, set = [], unset = [] }: JobOptions,
  request: OpenRequest,
): Promise<OpenedInputs> {
  const { signal } = request
  const sources: ByteSource[] = []
  const models: Model[] = []
  const close = async (): Promise<void> => {
    for (const model of models) await closeModel(model)
    for (const source of sources) await source.close()
  }
  const open = async (input: NamedInput): Promise<ByteSource> => {
    checkAborted(signal, input.address)
    const source = await request.open(input.address)
    sources.push(source)
    return input.name === undefined || source.folder?.isWhole ? source : renamedSource(source, input.name)
  }
  const openAs = async (input: NamedInput): Promise<Model> => {
    const { from, lenient } = input
    const model = await openModel(await open(input), { from, lenient, signal, onFinding: request.onFinding })
    models.push(model)
    return model
  }
  try {
    const [main, ...others] = inputs
    const first = await openAs(main!)
    const pinned: JobInput[] = [pin(main!, filesOf(first))]
    const merged: Model[] = []
    let options: OpenedInputs['options'] = ownState ? { stateFrom: first } : {}
    let importance: Importance | undefined
    for (const input of others) {
      if (input.role === 'vocabulary') {
        const source = await open(input)
        pinned.push(pin(input, [source]))
        options = { ...options, parts: [await vocabularyIn(source, signal)] }
        continue
      }
      const model = await openAs(input)
      pinned.push(pin(input, filesOf(model)))
      if (input.role === 'merge') merged.push(model)
      else if (input.role === 'state') options = { ...options, stateFrom: model }
      else if (input.role === 'importance') importance = await importanceOf(model, signal)
    }
    const settled = [...unset, ...set.map(([key]) => key)]
    const joined =
      merged.length === 0
        ? { model: first, actions: [] }
        : await mergeModels([first, ...merged], { prefer, only, exclude, without, stow, settled, signal })
    return {
      model: joined.model,
      options: { ...options, before: joined.actions },
      importance,
      pinned,
      async assertUnchanged() {
        for (const source of sources) await source.assertUnchanged?.()
      },
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

/** With those that lie beside it: a configuration, a tokenizer. */
function filesOf({ files, parts }: Model): readonly ByteSource[] {
  const beside = parts.flatMap(({ data }) => data?.origin?.source ?? [])
  return [...new Set([...files, ...beside])]
}

const pin = ({ role, address, name, from, lenient }: NamedInput, files: readonly ByteSource[]): JobInput => ({
  ...{ role, address },
  ...(name !== undefined && { name }),
  ...(from !== undefined && { from }),
  ...(lenient && { lenient }),
  files: files.map(({ name, size, version }) => ({ name, size, ...(version !== undefined && { version }) })),
})

async function vocabularyIn(source: ByteSource, signal: AbortSignal | undefined) {
  if (source.size > maxVocabulary)
    failWith(jobCodes.invalid, { file: source.name, message: 'this is too long for a vocabulary' })
  return parseVocabularyText(await source.read(0, source.size, { signal })).part
}

async function importanceOf(model: Model, signal: AbortSignal | undefined): Promise<Importance> {
  const importance = await readImportance(model, signal)
  return { importance, importanceOrigin: originOf(model, importance.size) }
}

/** Throws unless inputs are the ones that a job was planned for. */
export function assertPinned(wanted: readonly JobInput[], found: readonly JobInput[]): void {
  for (const [i, input] of wanted.entries()) {
    const files = found[i]?.files ?? []
    if (files.length !== input.files.length)
      changed(input.address, `it had ${input.files.length} files and now has ${files.length}`)
    for (const [k, file] of input.files.entries()) assertSame(file, files[k]!)
  }
}

function assertSame(wanted: PinnedFile, found: PinnedFile): void {
  if (found.size !== wanted.size) changed(wanted.name, `it had ${wanted.size} bytes and now has ${found.size}`)
  if (found.version !== wanted.version)
    changed(wanted.name, `its version was ${wanted.version ?? 'not known'} and is ${found.version ?? 'not known'} now`)
}

function changed(file: string, message: string): never {
  return failWith(jobCodes['input-changed'], {
    file,
    message: `this is not what the job was planned for: ${message}; plan the job again`,
  })
}
