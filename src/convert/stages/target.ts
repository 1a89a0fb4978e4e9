// What the target can hold. It is asked before the tensors are looked at, and again when they have their final types.
import { countElements, isPathBelow } from '../../bytes/index.js'
import { fileKind, filePart } from '../../content/companions.js'
import { type Vocabulary, vocabularyKind } from '../../content/vocabulary.js'
import { exportVocabulary } from '../../content/vocabulary-text.js'
import { callerWord, didYouMean, failWith, writeCodes } from '../../errors/index.js'
import {
  bytesPayload,
  type Fit,
  type Format,
  type MetaValue,
  type Model,
  type Part,
  readPayload,
  type Tensor,
  type WriteCapabilities,
} from '../../model/index.js'
import { Stower } from '../../stow/index.js'
import { isQuantized } from '../../transforms/dequantize.js'
import { globMatcher } from '../../transforms/glob.js'
import { parseRename } from '../../transforms/select.js'
import type { ConvertOptions } from '../options.js'
import { vocabularyFile } from './contents.js'
import type { State } from './state.js'

export const askTarget = (state: State): State => ({
  ...state,
  write: capabilitiesFor(state.target, state.model, state.options),
})

/** The final answers, and whether what has no place can be carried. */
export async function askAgain(state: State): Promise<State> {
  const { target, model, options } = state
  const write = await withDispensable(capabilitiesFor(target, model, options), model, options.signal)
  const stower = options.stow === false ? undefined : Stower.for(state.restored, target.id, write)
  return { ...state, meant: model, write, stower }
}

function capabilitiesFor(
  format: Format,
  model: Model,
  { extra = {}, name, folder }: ConvertOptions,
): WriteCapabilities {
  const { write, writeFor } = format.capabilities
  const own = writeFor?.(model, extra, name) ?? write
  if (!own) return failWith(writeCodes['not-writable'], { file: name, message: `${format.title} cannot be written` })
  const able = own.hugeShapes ? own : withoutHugeShapes(own)
  return folder && own.folder ? inFolder(able) : able
}

/** What a directory holds beyond what the format itself does. */
function inFolder(write: WriteCapabilities): WriteCapabilities {
  return {
    ...write,
    part(part) {
      const fit = write.part(part)
      if (fit.fits) return fit
      if (part.kind === vocabularyKind) return vocabularyAsFile(part) ?? fit
      return part.kind === fileKind && part.data && isPathBelow(part.name ?? '') ? { fits: true } : fit
    },
  }
}

function vocabularyAsFile(part: Part): Fit<Part> | undefined {
  const { tokens } = part.content as Vocabulary
  const lineFeed = 0x0a
  if (tokens.some((token) => token.includes(lineFeed))) return undefined
  const as = filePart(vocabularyFile, bytesPayload(exportVocabulary(part).bytes))
  return { fits: true, as, reason: `as lines of ${vocabularyFile}` }
}

/** Most formats count elements. No tensor with data has such a shape, unless it is empty. */
const withoutHugeShapes = (write: WriteCapabilities): WriteCapabilities => ({
  ...write,
  tensor: (tensor) =>
    countElements(tensor.shape) === undefined
      ? { fits: false, reason: 'its dimensions multiply to more than 2^53-1' }
      : write.tensor(tensor),
})

// Some containers hold weights and a vocabulary for one program, and nothing else. A published model brings things along that this program
// has no use for and that are not gone when they stay behind: a buffer of the numbers 0, 1, 2, … that the library registers, the name of the
// framework that wrote the file, and the files that lie beside the weights. Each is named in the plan, as a loss of form. What does not
// follow from anything else is content.

const positionBuffer = /(^|\.)position_ids$/
/** No encoder has more positions. */
const maxPositions = 1 << 20
const framework = /^(pt|tf|flax|np|mlx)$/

/** The capabilities, with what may stay behind taken for a loss of form. Buffers are read to see that they hold what they should. */
async function withDispensable(
  write: WriteCapabilities,
  model: Model,
  signal?: AbortSignal,
): Promise<WriteCapabilities> {
  if (!write.weightsOnly) return write
  const buffers = new Set<string>()
  for (const tensor of model.tensors) if (await isPositionBuffer(tensor, signal)) buffers.add(tensor.name)
  return {
    ...write,
    tensor: (tensor) =>
      asForm(write.tensor(tensor), buffers.has(tensor.name) && 'it holds the numbers of the positions'),
    metadata: (key, value) =>
      asForm(write.metadata(key, value), isFrameworkName(key, value) && 'it names the framework that wrote the source'),
    part: (part) => asForm(write.part(part), liesBeside(part, model) && 'it stays in the directory of the source'),
  }
}

function asForm<T>(fit: Fit<T>, why: string | false): Fit<T> {
  if (fit.fits || why === false) return fit
  return { ...fit, loss: 'form', reason: `${why}, and readers of the target do not use it` }
}

/** 0, 1, 2, … as integers, in one row. */
async function isPositionBuffer({ name, dtype, shape, data }: Tensor, signal?: AbortSignal): Promise<boolean> {
  const count = shape.at(-1) ?? 0
  const isRow = shape.length === 1 || (shape.length === 2 && shape[0] === 1)
  const { codec } = dtype
  if (!positionBuffer.test(name) || !isRow || count > maxPositions) return false
  if (!data || !codec || (dtype.kind !== 'int' && dtype.kind !== 'uint')) return false
  if (data.byteLength !== dtype.byteLength(shape)) return false
  const bytes = await readPayload(data, signal)
  for (let i = 0; i < count; i++) if (Number(codec.element(bytes, i)) !== i) return false
  return true
}

const isFrameworkName = (key: string, value: MetaValue): boolean =>
  key === 'format' && value.type === 'str' && framework.test(value.value)

/** Whether the part is a file of its own, in the directory that was opened. */
function liesBeside({ kind, data }: Part, { files: [, ...others] }: Model): boolean {
  const origin = kind === fileKind ? data?.origin : undefined
  return origin !== undefined && origin.length === origin.source.size && others.includes(origin.source)
}

// Wishes that change nothing, most of them mistyped: patterns that match no tensor, entries that are not there, options of another format.

/** Notes them in the plan, each with the names that come nearest. */
export function noteIdleOptions(state: State): State {
  const { options, model, target, write } = state
  const { dedup, unset = [], extra = {} } = options
  const own = new Set(target.options?.write?.map(({ name }) => name))
  const names = model.tensors.map(({ name }) => name)
  const notes = [
    ...(dedup && !write.sharesPayloads
      ? [
          `${callerWord('--dedup', 'dedup')} changes nothing: ${target.title} stores the bytes of each tensor by themselves`,
        ]
      : []),
    ...idlePatterns(options, names),
    ...idleRules(options, names),
    ...idleDecoding(state),
    ...unset
      .filter((key) => !model.metadata.has(key))
      .map(
        (key) =>
          `${callerWord('--unset', 'unset')} ${key} changes nothing: there is no such entry${didYouMean(key, model.metadata.keys())}`,
      ),
    ...Object.keys(extra)
      .filter((name) => !own.has(name))
      .map((name) => `${callerWord(`--${name}`, name)} changes nothing: ${target.title} has no such option`),
  ]
  return { ...state, notes: [...state.notes, ...notes] }
}

function idlePatterns({ only = [], exclude = [], quantize }: ConvertOptions, names: readonly string[]): string[] {
  const methods = quantize?.tensorMethod ?? []
  const given: [flag: string, pattern: string, effect: string][] = [
    ...only.map((glob): [string, string, string] => [callerWord('--only', 'only'), glob, 'takes nothing']),
    ...exclude.map((glob): [string, string, string] => [callerWord('--exclude', 'exclude'), glob, 'changes nothing']),
    ...methods.map(([glob]): [string, string, string] => [
      callerWord('--tensor-method', 'tensorMethod'),
      glob,
      'changes nothing',
    ]),
  ]
  return given
    .filter(([, pattern]) => matchesNone(pattern, names))
    .map(
      ([flag, pattern, effect]) =>
        `${flag} ${pattern} ${effect}: no tensor has such a name${didYouMean(pattern, names)}`,
    )
}

/** Rules work one after the other, so each is tried on what those before it made of the names. */
function idleRules({ rename = [], renameMap }: ConvertOptions, names: readonly string[]): string[] {
  if (rename.length === 0) return []
  const notes: string[] = []
  let current = names.filter((name) => !renameMap?.has(name))
  for (const rule of rename) {
    const renamed = current.map(parseRename(rule))
    if (renamed.every((name, i) => name === current[i]))
      notes.push(`${callerWord('--rename', 'rename')} ${rule} changes nothing: no name of a tensor matches`)
    current = renamed
  }
  return notes
}

function idleDecoding({ options, model, actions }: State): string[] {
  const unpacked = actions.filter(({ subject, action }) => subject === 'tensor' && action === 'dequantize')
  const quantized = [...unpacked, ...model.tensors.filter(isQuantized)].map(({ name }) => name)
  const { dequantize = [] } = options
  return dequantize
    .filter((pattern) => matchesNone(pattern, quantized))
    .map(
      (pattern) =>
        `${callerWord('--dequantize=', 'dequantize ')}${pattern} changes nothing: no quantized tensor has such a name${didYouMean(pattern, quantized)}`,
    )
}

function matchesNone(pattern: string, names: readonly string[]): boolean {
  const matches = globMatcher(pattern)
  return !names.some(matches)
}
