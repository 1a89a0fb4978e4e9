import { readFile, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import {
  type ByteSource,
  type Conversion,
  checkLoss,
  type Format,
  formatById,
  formatForOutput,
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
import { assertNotInput, markOutputErrors, openGuarded } from './open-guarded.js'
import { summarizePlan } from './plan-table.js'
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
  readonly stats?: string | boolean
  readonly keepBytes?: boolean
  readonly keepOrientation?: boolean
  readonly shardSize?: number
  readonly align?: number
  readonly deterministic?: boolean
  readonly overwrite?: boolean
}

/** Where the output of one input goes. */
interface Place {
  readonly format: Format
  readonly directory: string
  readonly name: string
  /** Standard output, which has no name. */
  readonly isStream: boolean
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
    const place = placeFor(input, flags, intoDirectory)
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
      stateFrom,
      dropState: flags.stats === false,
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
  try {
    for (const rule of flags.rename ?? []) parseRename(rule)
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
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

function placeFor(input: string, { output, to }: ConvertFlags, intoDirectory: boolean): Place {
  const isStream = output === '-'
  const named = output === undefined || isStream || intoDirectory ? undefined : basename(output)
  const format = to === undefined ? named && formatForOutput(named) : formatById(to)
  if (!format) throw unknownOutput()
  const directory = output === undefined || isStream ? '.' : intoDirectory ? output : dirname(output)
  return { format, directory, name: named ?? `${stemOf(input)}${format.extensions[0] ?? ''}`, isStream }
}

/** The input's name without what says its format. */
function stemOf(input: string): string {
  const name = input === '-' ? 'model' : basename(input)
  const extension = formatForOutput(name)?.extensions.find((each) => name.toLowerCase().endsWith(each)) ?? ''
  return name.slice(0, name.length - extension.length) || 'model'
}

async function carryOut(
  { console, json, signal }: Context,
  input: string,
  model: Model,
  source: ByteSource,
  conversion: Conversion,
  { directory, isStream }: Place,
  { allowLoss, overwrite }: ConvertFlags,
): Promise<Status> {
  const { plan } = conversion
  checkLoss(plan, worstLoss[allowLoss ?? 'none'])
  const pathOf = (name: string): string => (isStream ? '-' : join(directory, name))
  for (const { name } of plan.files) if (!isStream) await assertNotInput(pathOf(name), source)
  const started = performance.now()
  const files = await markOutputErrors(model, () =>
    runConversion(conversion, (name) => openGuarded(pathOf(name), source, { overwrite }), {
      signal,
      onProgress: console.progress.update,
      allowLoss: worstLoss[allowLoss ?? 'none'],
    }),
  )
  const seconds = (performance.now() - started) / 1000
  if (json)
    await console.json({
      ...plan,
      file: input,
      format: model.format,
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
