import { join } from 'node:path'
import {
  type ByteSource,
  type Conversion,
  type ConvertOptions,
  checkLoss,
  type Merged,
  type Model,
  mergeModels,
  openInput,
  openModel,
  type Part,
  parseVocabularyText,
  planConversion,
  readNameMap,
  runConversion,
  TareError,
} from '../../../node.js'
import type { Context } from '../../context.js'
import { type ConvertFlags, checkFlags } from './check-options.js'
import { inNewDirectory, isDirectory, type Place, placeFor } from './place.js'
import { damageAllowed, damageJson } from '../../input/damage.js'
import { escapeName, escapeText } from '../../console/escape.js'
import { formatOptionValues } from '../../format-facts.js'
import { formatSize, plural } from '../../console/format-values.js'
import { assertNotInput, markOutputErrors, openGuarded } from '../../output/guarded-output.js'
import { planJson } from '../../plan-json.js'
import { summarizePlan } from '../../plan-table.js'
import { poolOf } from '../../pool-of.js'
import { quantizeSettings } from '../../flags/quantize.js'
import { checkReceiptPlace, writeReceipt } from '../../output/receipt.js'
import { forEachModel, inputOptions, openOptions } from '../../input/run-inputs.js'
import { showPlan, worstLoss } from '../../output/plan.js'
import { readSideFile } from '../../input/side-file.js'
import { type Status, UsageError } from '../../status.js'

export default async function convert(
  context: Context,
  inputs: readonly string[],
  flags: ConvertFlags,
): Promise<Status> {
  const intoDirectory = flags.output !== undefined && (await isDirectory(flags.output))
  checkFlags(context, inputs, flags, intoDirectory)
  const shared = {
    extra: formatOptionValues('write', { ...flags }),
    parts: flags.vocab === undefined ? undefined : [await readVocabulary(context, flags.vocab)],
  }
  // Opened with the first input and kept for all, so that a failure is reported in the place of an input.
  let state: Promise<Opened> | undefined
  const stateFor = async (input: Opened): Promise<Opened | undefined> => {
    if (typeof flags.stats !== 'string') return flags.stats ? input : undefined
    state ??= openState(context, flags.stats)
    return state
  }
  const done = forEachModel(context, inputs, async (main, input, source) => {
    const others = await openAll(context, flags.merge ?? [])
    try {
      const { model, actions: before } = await joinModels(context, main, others, flags)
      const place = placeFor(input, model, flags, intoDirectory && inputs.length === 1, intoDirectory)
      const options = await optionsFor(context, flags, place)
      const stateOf = await stateFor({ source, model })
      const conversion = await planConversion(model, place.format.id, {
        ...shared,
        ...options,
        before,
        stateFrom: stateOf?.model,
      })
      if (flags.dryRun) return await showPlan(context, input, conversion, flags.allowLoss)
      const sources = [source, ...others.map((other) => other.source), ...(stateOf ? [stateOf.source] : [])]
      return await carryOut(context, input, model, sources, conversion, place, flags)
    } finally {
      await Promise.all(others.map((other) => other.source.close()))
    }
  })
  return done.finally(async () => (await state?.catch(() => undefined))?.source.close())
}

async function optionsFor(context: Context, flags: ConvertFlags, place: Place): Promise<ConvertOptions> {
  const { only, exclude, rename, cast, dequantize, set, unset, shardSize, align, deterministic } = flags
  const { keepBytes, keepOrientation, stow, dedup, files, without } = flags
  return {
    ...{ only, exclude, rename, cast, dequantize, set, unset, shardSize, align, deterministic },
    ...{ keepBytes, keepOrientation, stow, dedup, files, without },
    ...(flags.renameMap !== undefined && { renameMap: await nameMapOf(flags.renameMap) }),
    ...(flags.quantize !== undefined && {
      quantize: quantizeSettings(flags.quantize, flags, context.console.progress.update),
    }),
    dropState: flags.stats === false,
    folder: place.isFolder,
    name: place.name,
    signal: context.signal,
    pool: poolOf(context),
  }
}

interface Opened {
  readonly source: ByteSource
  readonly model: Model
}

/** The models that are to be joined with the input. Closing a source closes all files of its model. */
async function openAll(context: Context, inputs: readonly string[]): Promise<Opened[]> {
  const sources: ByteSource[] = []
  try {
    const opened: Opened[] = []
    for (const input of inputs) {
      const source = await openInput(input, inputOptions(context))
      sources.push(source)
      opened.push({ source, model: await openModel(source, { ...openOptions(context), from: undefined }) })
    }
    return opened
  } catch (error) {
    await Promise.all(sources.map((source) => source.close()))
    throw error
  }
}

async function joinModels(
  context: Context,
  main: Model,
  others: readonly Opened[],
  flags: ConvertFlags,
): Promise<Merged> {
  if (others.length === 0) return { model: main, actions: [] }
  const { prefer, only, exclude, without, stow, set = [], unset = [] } = flags
  const settled = [...unset, ...set.map(([key]) => key)]
  return mergeModels([main, ...others.map((other) => other.model)], {
    prefer,
    only,
    exclude,
    without,
    stow,
    settled,
    signal: context.signal,
  })
}

/** Without the map nothing can be done at all, whatever is wrong with it. */
async function nameMapOf(file: string): Promise<Map<string, string>> {
  try {
    return await readNameMap(file)
  } catch (error) {
    if (!(error instanceof TareError)) throw error
    const { path, code, message } = error.finding
    throw new UsageError(`--rename-map ${file}: ${path ? `${path}: ` : ''}${message} (${code})`)
  }
}

async function readVocabulary({ console }: Context, file: string): Promise<Part> {
  const { part, warnings } = parseVocabularyText(await readSideFile(file))
  for (const warning of warnings) console.remark(`warning: ${escapeName(file)}: ${escapeText(warning)}`)
  return part
}

/** Its payloads are read while the outputs are written. */
async function openState(context: Context, input: string): Promise<Opened> {
  const source = await openInput(input, inputOptions(context))
  return { source, model: await openModel(source, { signal: context.signal }) }
}

async function carryOut(
  context: Context,
  input: string,
  model: Model,
  sources: readonly ByteSource[],
  conversion: Conversion,
  { directory, isStream, isFolder, inDirectory }: Place,
  { allowLoss, allowDamage, overwrite, receipt }: ConvertFlags,
): Promise<Status> {
  const { console, json, signal } = context
  const { plan } = conversion
  checkLoss(plan, worstLoss[allowLoss ?? 'none'])
  const pathOf = (name: string): string => (isStream ? '-' : join(directory, name))
  for (const { name } of plan.files)
    for (const source of isStream ? [] : sources) await assertNotInput(pathOf(name), source)
  if (receipt !== undefined) await checkReceiptPlace(receipt, sources, directory)
  const started = performance.now()
  const allowed = damageAllowed(context, allowDamage)
  const write = () =>
    runConversion(conversion, (name) => openGuarded(pathOf(name), sources, { overwrite }), {
      signal,
      onProgress: console.progress.update,
      allowLoss: worstLoss[allowLoss ?? 'none'],
      pool: poolOf(context),
      onDamage: allowed.onDamage,
    })
  const files = await markOutputErrors(model, () => (inDirectory ? inNewDirectory(directory, write) : write()))
  const seconds = (performance.now() - started) / 1000
  if (receipt !== undefined) {
    const output = isFolder ? directory : pathOf(files[0]!.name)
    await markOutputErrors(model, () =>
      writeReceipt(context, receipt, { plan, model, source: sources[0]!, output, damage: allowed.damage }),
    )
  }
  if (json)
    await console.json({
      ...planJson(plan),
      file: input,
      format: model.format,
      ...(receipt !== undefined && { receipt }),
      ...damageJson(allowed.damage),
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
