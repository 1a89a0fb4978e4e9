// Converting in one call: plan, refuse what would be lost, write, open again.
import { type ByteSink, type ByteSource, MemorySink } from '../bytes/index.js'
import type { Conversion, Plan } from '../convert/plan.js'
import { type ConvertOptions as PlanSettings, planConversion } from '../convert/plan.js'
import { type RunOptions, runConversion } from '../convert/run.js'
import type { DTypeId } from '../dtypes/index.js'
import { failWith, usageCodes } from '../errors/index.js'
import { type FormatId, formatForOutput, requireFormat } from '../formats/index.js'
import type { Model, OptionValues } from '../model/index.js'
import type { MethodName } from '../transforms/quantize/method.js'
import type { WrittenFile } from '../writing/write-layout.js'
import { type Place, requireHost } from './host.js'
import type { ModelInput } from './input.js'
import { OpenModel, type OpenModelOptions, withModel } from './open-model.js'

/** How tensors are quantized, where a method alone does not say it all. */
export interface QuantizeOptions extends Omit<NonNullable<PlanSettings['quantize']>, 'method' | 'tensorMethod'> {
  readonly method: MethodName
  /** Name patterns with the method to use, `keep` for none. The first match wins. */
  readonly tensorMethod?: readonly (readonly [glob: string, method: MethodName | 'keep'])[] | undefined
}

/** What a plan can be asked for. */
export interface PlanOptions
  extends Omit<PlanSettings, 'name' | 'cast' | 'quantize' | 'rename' | 'renameMap' | 'set' | 'extra'> {
  /** Float tensors become this type; all others stay as they are. */
  readonly cast?: DTypeId | undefined
  /** Quantizes large matrices of floats. */
  readonly quantize?: MethodName | QuantizeOptions | undefined
  /** Rules such as `s/^model\.//`, or new names by old ones. */
  readonly rename?: readonly string[] | ReadonlyMap<string, string> | Readonly<Record<string, string>> | undefined
  /** Metadata to set. An entry that is there keeps its type. */
  readonly set?: Readonly<Record<string, string>> | readonly (readonly [key: string, value: string])[] | undefined
  /** Options of the target format, by their names in its documentation: `{ 'page-hashes': true }`. */
  readonly formatOptions?: OptionValues | undefined
  /** The file name of the output. */
  readonly name?: string | undefined
}

/** What a conversion can be asked for. */
export interface ConvertOptions
  extends PlanOptions,
    Pick<RunOptions, 'allowLoss' | 'onDamage' | 'onProgress' | 'digests' | 'pool'>,
    Omit<OpenModelOptions, 'name'> {
  /** The format to write. Default: the one that the name of the output says. */
  readonly to?: FormatId | undefined
  /** False: an output that exists is an error. Default: it is replaced. */
  readonly overwrite?: boolean | undefined
}

/** Gives a sink for the first file of an output; the other files are its siblings. */
export type OpenSink = (name: string) => Promise<ByteSink>

/** A file that was made in memory. */
export interface MemoryFile {
  readonly name: string
  readonly bytes: Uint8Array<ArrayBuffer>
}

/** What was converted, and what came out. */
export interface Converted<File> {
  readonly plan: Plan
  /** The main file first. */
  readonly files: readonly File[]
}

/**
 * What a conversion would do, without doing it: what happens to every tensor, entry and part, what is lost by that, and how large the
 * output is. `runConversion` carries it out.
 *
 * @example
 * const { plan } = await planConversion(model, 'gguf', { cast: 'f16' })
 * console.log(plan.loss, plan.size)
 */
export function planConversionTo(model: Model, to: FormatId, options: PlanOptions = {}): Promise<Conversion> {
  return planConversion(model, to, planSettings(to, options))
}

/** The same as the settings of a plan. */
export function planSettings(to: FormatId, options: PlanOptions): PlanSettings {
  const { rename, set, quantize, formatOptions, name, ...rest } = options
  return {
    ...rest,
    name: name ?? `model${requireFormat(to).extensions[0] ?? ''}`,
    ...(rename !== undefined && renameSettings(rename)),
    ...(set !== undefined && { set: Array.isArray(set) ? set : Object.entries(set) }),
    ...(quantize !== undefined && { quantize: typeof quantize === 'string' ? { method: quantize } : quantize }),
    ...(formatOptions && { extra: formatOptions }),
  }
}

function renameSettings(rename: NonNullable<PlanOptions['rename']>): Pick<PlanSettings, 'rename' | 'renameMap'> {
  if (Array.isArray(rename)) return { rename }
  return { renameMap: rename instanceof Map ? rename : new Map(Object.entries(rename)) }
}

/**
 * Converts a model. The output is a path (`tare/node`), a function that opens a sink, or undefined: then the files come back in memory.
 * Nothing is written when the conversion would lose more than `allowLoss`: that is a TareError `write/loss-refused`.
 *
 * @example
 * await convert('model.safetensors', 'model.gguf', { cast: 'f16' })
 * @example
 * const { files } = await convert(file, undefined, { to: 'gguf', cast: 'f16' })
 * const blob = new Blob([files[0].bytes])
 */
export async function convert(
  input: ModelInput | Model,
  output: undefined,
  options: ConvertOptions & { readonly to: FormatId },
): Promise<Converted<MemoryFile>>
export async function convert(
  input: ModelInput | Model,
  output: string | OpenSink,
  options?: ConvertOptions,
): Promise<Converted<WrittenFile>>
export async function convert(
  input: ModelInput | Model,
  output: string | OpenSink | undefined,
  options: ConvertOptions = {},
): Promise<Converted<WrittenFile | MemoryFile>> {
  return withModel(input, { ...options, name: undefined }, async (model) => {
    const made = new Map<string, Uint8Array>()
    const place = await placeFor(output, model, options, made)
    const { from, headers, cache, siblings, lenient, limits, onFinding, openElsewhere, ...settings } = options
    const { to, overwrite, allowLoss, onDamage, onProgress, digests, ...plan } = settings
    const conversion = await planConversionTo(model, place.format, { folder: place.folder, ...plan, name: place.name })
    const run: RunOptions = { allowLoss, onDamage, onProgress, pool: options.pool, signal: options.signal }
    const written = await runConversion(conversion, place.open, { ...run, ...(digests && { digests }) })
    return { plan: conversion.plan, files: filesOf(written, place, output === undefined ? made : undefined) }
  })
}

function filesOf(
  written: readonly WrittenFile[],
  place: Place,
  made: ReadonlyMap<string, Uint8Array> | undefined,
): (WrittenFile | MemoryFile)[] {
  return written.map((file) =>
    made
      ? { name: file.name, bytes: made.get(file.name) as Uint8Array<ArrayBuffer> }
      : { ...file, name: place.pathOf(file.name) },
  )
}

async function placeFor(
  output: string | OpenSink | undefined,
  model: Model,
  { to, name, overwrite }: ConvertOptions,
  made: Map<string, Uint8Array>,
): Promise<Place> {
  if (typeof output === 'string') return requireHost(output).place(output, { to, inputs: sourcesOf(model), overwrite })
  const format = to ?? formatNamed(name)
  const fileName = name ?? `model${requireFormat(format).extensions[0] ?? ''}`
  const open = output ?? (async (file: string) => new MemorySink(file, made))
  return { format, name: fileName, folder: false, pathOf: (file) => file, open }
}

/** What a model is read from; the main file as it was opened. */
const sourcesOf = (model: Model): readonly ByteSource[] =>
  model instanceof OpenModel ? [model.source, ...model.files.slice(1)] : model.files

/** The format that a file name says, or an error that lists what `to` takes. */
export function formatNamed(name: string | undefined): FormatId {
  const format = name === undefined ? undefined : formatForOutput(name)
  if (format) return format.id as FormatId
  const message = `${name === undefined ? 'there is no name' : 'the name does not say'} which format to write; set \`to\``
  return failWith(usageCodes.option, { file: name ?? 'to', message })
}
