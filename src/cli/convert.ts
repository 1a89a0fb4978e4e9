import { mkdir, readFile, rmdir, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import {
  type ByteSource,
  type Conversion,
  checkLoss,
  type Format,
  findingOf,
  formatById,
  formatForOutput,
  formats,
  ioCodes,
  type Model,
  openInput,
  openModel,
  type Part,
  parseRename,
  parseVocabularyText,
  planConversion,
  runConversion,
} from '../node.js'
import type { Context } from './context.js'
import { escapeName, escapeText } from './escape-name.js'
import { formatOptionValues } from './format-options.js'
import { formatSize, plural } from './format-values.js'
import { assertNotInput, markOutputErrors, OutputError, openGuarded } from './open-guarded.js'
import { summarizePlan } from './plan-table.js'
import { writeReceipt } from './receipt.js'
import { checkFormatId, forEachModel, inputOptions } from './run-inputs.js'
import { type AllowLoss, showPlan, unknownOutput, worstLoss } from './show-plan.js'
import { type Status, UsageError } from './status.js'

interface ConvertFlags {
  readonly output?: string
  readonly to?: string
  readonly dryRun?: boolean
  readonly allowLoss?: AllowLoss
  readonly cast?: string
  readonly only?: readonly string[]
  readonly exclude?: readonly string[]
  readonly rename?: readonly string[]
  readonly set?: readonly (readonly [string, string])[]
  readonly unset?: readonly string[]
  readonly vocab?: string
  readonly files?: boolean
  readonly without?: readonly string[]
  readonly stats?: string | boolean
  readonly keepBytes?: boolean
  readonly keepOrientation?: boolean
  readonly stow?: boolean
  readonly shardSize?: number
  readonly align?: number
  readonly deterministic?: boolean
  readonly receipt?: string
  readonly overwrite?: boolean
}

/** Where the output of one input goes. */
interface Place {
  readonly format: Format
  readonly directory: string
  readonly name: string
  /** Standard output, which has no name. */
  readonly isStream: boolean
  /** The directory is the output: the model and its files, under the names that programs look for. */
  readonly isFolder: boolean
}

export default async function convert(
  context: Context,
  inputs: readonly string[],
  flags: ConvertFlags,
): Promise<Status> {
  const intoDirectory = flags.output !== undefined && (await isDirectory(flags.output))
  checkFlags(context, inputs, flags, intoDirectory)
  const extra = await formatOptionValues('write', { ...flags })
  const parts = flags.vocab === undefined ? undefined : [await readVocabulary(context, flags.vocab)]
  const stateFrom = typeof flags.stats === 'string' ? await openState(context, flags.stats) : undefined
  return forEachModel(context, inputs, async (model, input, source) => {
    const place = placeFor(input, model, flags, intoDirectory && inputs.length === 1, intoDirectory)
    const { only, exclude, rename, cast, set, unset, shardSize, align, deterministic, keepBytes, keepOrientation } =
      flags
    const changes = {
      only,
      exclude,
      rename,
      cast,
      set,
      unset,
      shardSize,
      align,
      deterministic,
      keepBytes,
      keepOrientation,
    }
    const conversion = await planConversion(model, place.format.id, {
      ...changes,
      extra,
      parts,
      stateFrom: flags.stats === true ? model : stateFrom,
      dropState: flags.stats === false,
      stow: flags.stow,
      files: flags.files,
      without: flags.without,
      folder: place.isFolder,
      name: place.name,
      signal: context.signal,
    })
    if (flags.dryRun) return showPlan(context, input, conversion, flags.allowLoss)
    return carryOut(context, input, model, source, conversion, place, flags)
  })
}

function checkFlags(context: Context, inputs: readonly string[], flags: ConvertFlags, intoDirectory: boolean): void {
  const { output, to } = flags
  if (output === undefined && !(flags.dryRun && to)) throw new UsageError('say where to with -o OUT')
  if (output === '-' && context.json && !flags.dryRun) throw new UsageError('--json and -o - both want standard output')
  if (inputs.length > 1 && output !== undefined && !intoDirectory)
    throw new UsageError('several inputs need a directory as output')
  if (to !== undefined) checkFormatId(to, '--to')
  checkReceiptFlag(inputs, flags)
  try {
    for (const rule of flags.rename ?? []) parseRename(rule)
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}

function checkReceiptFlag(inputs: readonly string[], { receipt, output }: ConvertFlags): void {
  if (receipt === undefined) return
  if (inputs.length > 1) throw new UsageError('a receipt is about one input')
  if (output === '-')
    throw new UsageError('a receipt is about files; what goes to standard output cannot be read again')
  if (output !== undefined && resolve(output) === resolve(receipt))
    throw new UsageError('the receipt needs another name than the output')
}

async function readVocabulary({ console }: Context, file: string): Promise<Part> {
  const bytes = await readFile(file).catch((error: Error) => {
    throw new UsageError(`--vocab ${file}: ${error.message}`)
  })
  const { part, warnings } = parseVocabularyText(bytes)
  for (const warning of warnings) console.remark(`warning: ${escapeName(file)}: ${escapeText(warning)}`)
  return part
}

/** Stays open until the process ends: its payloads are read while the output is written. */
async function openState(context: Context, input: string): Promise<Model> {
  return openModel(await openInput(input, inputOptions(context)), { signal: context.signal })
}

async function isDirectory(path: string): Promise<boolean> {
  const stats = await stat(path).catch(() => undefined)
  return stats?.isDirectory() ?? path.endsWith('/')
}

function placeFor(
  input: string,
  model: Model,
  { output, to, files }: ConvertFlags,
  isAlone: boolean,
  intoDirectory: boolean,
): Place {
  const isStream = output === '-'
  const named = output === undefined || isStream || intoDirectory ? undefined : basename(output)
  const asked = to === undefined ? named && formatForOutput(named) : formatById(to)
  const format = asked || (isAlone ? formats.find(canBeFolder) : undefined)
  if (!format) throw unknownOutput()
  const directory = output === undefined || isStream ? '.' : intoDirectory ? output : dirname(output)
  const bringsFiles = files !== false && model.parts.some(({ kind }) => kind === 'file')
  const isFolder = isAlone && canBeFolder(format) && (!asked || bringsFiles)
  const name = named ?? (isFolder ? format.published![0]! : `${stemOf(input)}${format.extensions[0] ?? ''}`)
  return { format, directory, name, isStream, isFolder }
}

const canBeFolder = (format: Format): boolean => format.capabilities.write?.folder === true && !!format.published

/** The input's name without what says its format. */
function stemOf(input: string): string {
  const name = input === '-' ? 'model' : basename(input)
  const extension = formatForOutput(name)?.extensions.find((each) => name.toLowerCase().endsWith(each)) ?? ''
  return name.slice(0, name.length - extension.length) || 'model'
}

async function carryOut(
  context: Context,
  input: string,
  model: Model,
  source: ByteSource,
  conversion: Conversion,
  { directory, isStream, isFolder }: Place,
  { allowLoss, overwrite, receipt }: ConvertFlags,
): Promise<Status> {
  const { console, json, signal } = context
  const { plan } = conversion
  checkLoss(plan, worstLoss[allowLoss ?? 'none'])
  const pathOf = (name: string): string => (isStream ? '-' : join(directory, name))
  for (const { name } of plan.files) if (!isStream) await assertNotInput(pathOf(name), source)
  const started = performance.now()
  const write = () =>
    runConversion(conversion, (name) => openGuarded(pathOf(name), source, { overwrite }), {
      signal,
      onProgress: console.progress.update,
      allowLoss: worstLoss[allowLoss ?? 'none'],
    })
  const files = await markOutputErrors(model, () => (isFolder ? inNewDirectory(directory, write) : write()))
  const seconds = (performance.now() - started) / 1000
  if (receipt !== undefined) {
    const output = isFolder ? directory : pathOf(files[0]!.name)
    await markOutputErrors(model, () => writeReceipt(context, receipt, { plan, model, source, output }))
  }
  if (json)
    await console.json({
      ...plan,
      file: input,
      format: model.format,
      ...(receipt !== undefined && { receipt }),
      files: files.map(({ name, size }) => ({ name: pathOf(name), size })),
    })
  else {
    for (const line of summarizePlan(plan, console.errorColor)) console.remark(line)
    const where = files.length === 1 ? '' : ` in ${plural(files.length, 'file')}`
    console.remark(
      `${escapeName(pathOf(files[0]!.name))}: ${plan.target}, ${formatSize(plan.size)}${where}, ${seconds.toFixed(1)} s`,
    )
  }
  return 0
}

/** Makes the directory when it is not there, and takes it away again when nothing comes of it. */
async function inNewDirectory<T>(directory: string, work: () => Promise<T>): Promise<T> {
  const made = await mkdir(directory, { recursive: true }).catch((error: Error) => {
    throw new OutputError(findingOf(ioCodes.failed, { file: directory, message: error.message }))
  })
  try {
    return await work()
  } catch (error) {
    // Only what is empty goes; the first directory that was made ends it.
    for (let path = resolve(directory); made && path.startsWith(made); path = dirname(path))
      await rmdir(path).catch(() => {})
    throw error
  }
}
