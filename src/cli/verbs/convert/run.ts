import { resolve } from 'node:path'
import {
  type ByteSource,
  type Conversion,
  checkLoss,
  closeModel,
  collectGarbage,
  collectorFor,
  keepHeapSmall,
  type ConvertOptions as LibraryOptions,
  type Merged,
  type Model,
  mergeModels,
  type Part,
  parseRename,
  parseVocabularyText,
  planConversion,
  putIntoGraph,
} from '../../../kit-node.js'
import { escapeName, escapeText } from '../../console/escape.js'
import { formatSize, plural } from '../../console/format-values.js'
import type { Context } from '../../context.js'
import { longName } from '../../flags/flag.js'
import { quantizeFlags, quantizeSettings } from '../../flags/quantize.js'
import { allowedDamage, damageJson } from '../../input/damage.js'
import { importanceFrom } from '../../input/importance.js'
import { nameMapFrom } from '../../input/name-map.js'
import { checkStdin, forEachModel, formatNamed, type Opened, openModels } from '../../input/run-inputs.js'
import { settingsFrom } from '../../input/settings.js'
import { readSideFile } from '../../input/side-file.js'
import { readSigningKey } from '../../input/signature-file.js'
import { maxLoss, reportWritten, showPlan, writeConversion } from '../../output/conversion.js'
import { checkStdout, isDirectory, markOutputErrors, type Place, placeFor, stemOf } from '../../output/output.js'
import { checkReceiptPlace, writeReceipt } from '../../output/receipt.js'
import { type Status, UsageError } from '../../status.js'
import { convertByQueue } from './by-queue.js'
import type { ConvertOptions } from './index.js'

export default async function convert(
  context: Context,
  inputs: readonly string[],
  options: ConvertOptions,
): Promise<Status> {
  const intoDirectory = options.output !== undefined && (await isDirectory(options.output))
  checkOptions(context, inputs, options, intoDirectory)
  if (options.workers !== undefined) return convertByQueue(context, inputs, options, options.workers)
  keepHeapSmall()
  const parts = options.vocab === undefined ? undefined : [await readVocabulary(context, options.vocab)]
  // Opened with the first input and kept for all, so that a failure is reported in the place of an input.
  let state: Promise<Opened[]> | undefined
  const stateFor = async (input: Opened): Promise<Opened | undefined> => {
    if (typeof options.stats !== 'string') return options.stats ? input : undefined
    state ??= openModels(context, [options.stats])
    return (await state)[0]
  }
  const done = forEachModel(context, inputs, async (main, input, source) => {
    const graphs = options.graph === undefined ? [] : [options.graph]
    const others = await openModels(context, [...(options.merge ?? []), ...graphs])
    try {
      const { model, actions: before } = await joinModels(context, main, others, options)
      const place = placeFor(input, model, options, intoDirectory && inputs.length === 1, intoDirectory)
      if (graphs.length > 0 && place.format.id !== model.format)
        throw new UsageError(
          `--graph writes ${formatNamed(model.format, '--graph').title}; name the output so, or use --to`,
        )
      const stateFrom = await stateFor({ source, model })
      const collector = collectorFor(model, collectGarbage)
      collector?.()
      const conversion = await planConversion(model, place.format.id, {
        ...(await planOptions(context, options, place)),
        parts,
        before,
        stateFrom: stateFrom?.model,
        collectGarbage: collector,
      })
      if (options.dryRun) return await showPlan(context, input, conversion, options.allowLoss, options.output)
      const sources = [{ source }, ...others, ...(stateFrom ? [stateFrom] : [])].map((each) => each.source)
      return await carryOut(context, input, sources, conversion, place, options)
    } finally {
      for (const other of others) await closeModel(other.model)
    }
  })
  return done.finally(async () => {
    for (const { model } of (await state?.catch(() => [])) ?? []) await closeModel(model)
  })
}

async function planOptions(context: Context, options: ConvertOptions, place: Place): Promise<LibraryOptions> {
  const { only, exclude, cast, dequantize, unset, shardSize, align, deterministic } = options
  // With a graph they were about the names of the weights.
  const rename = options.graph === undefined ? options.rename : undefined
  const { asIs, keepBytes, keepOrientation, stow, dedup, files, without } = options
  return {
    ...{ only, exclude, rename, cast, dequantize, unset, shardSize, align, deterministic },
    set: options.set && settingsFrom(options.set),
    preTokenizer: options.pre,
    ...{ asIs, keepBytes, keepOrientation, stow, dedup, files, without },
    ...(options.renameMap !== undefined &&
      options.graph === undefined && { renameMap: await nameMapFrom('--rename-map', options.renameMap) }),
    ...(options.quantize !== undefined && {
      quantize: quantizeSettings(
        options.quantize,
        options,
        context.console.progress.update,
        await importanceFrom(context, options.imatrix),
      ),
    }),
    dropState: options.stats === false,
    folder: place.isFolder,
    name: place.name,
    extra: context.formatOptions,
    signal: context.signal,
    pool: context.pool,
  }
}

async function joinModels(
  context: Context,
  main: Model,
  others: readonly Opened[],
  options: ConvertOptions,
): Promise<Merged> {
  const graph = options.graph === undefined ? undefined : others.at(-1)!.model
  if (graph) {
    const merged = await joinModels(context, main, others.slice(0, -1), { ...options, graph: undefined })
    return intoGraph(context, graph, merged, options)
  }
  if (others.length === 0) return { model: main, actions: [] }
  const { prefer, only, exclude, without, stow, unset = [] } = options
  const settled = [...unset, ...(options.set ? settingsFrom(options.set) : []).map(([key]) => key)]
  const models = [main, ...others.map((other) => other.model)] as const
  return mergeModels(models, { prefer, only, exclude, without, stow, settled, signal: context.signal })
}

/** The graph with the weights. Names of weights are changed to find their places, and then no more. */
async function intoGraph(
  { console }: Context,
  graph: Model,
  { model: weights, actions }: Merged,
  { rename, renameMap, graph: file = '' }: ConvertOptions,
): Promise<Merged> {
  const map = renameMap === undefined ? undefined : await nameMapFrom('--rename-map', renameMap)
  const put = putIntoGraph(graph, weights, { rename, renameMap: map })
  const kept = graph.tensors.length - put.count
  const rest = kept === 0 ? '' : `; ${plural(kept, 'other tensor')} of it stay as they are`
  console.remark(`${plural(put.count, 'tensor')} put into the graph of ${escapeName(file)}${rest}`)
  return { model: put.model, actions: [...actions, ...put.actions] }
}

async function readVocabulary({ console }: Context, file: string): Promise<Part> {
  const { part, warnings } = parseVocabularyText(await readSideFile(file))
  for (const warning of warnings) console.remark(`warning: ${escapeName(file)}: ${escapeText(warning)}`)
  return part
}

async function carryOut(
  context: Context,
  input: string,
  inputs: readonly ByteSource[],
  conversion: Conversion,
  { directory, isFolder, pathOf }: Place,
  { allowLoss, allowDamage, overwrite, resume, receipt, ...options }: ConvertOptions,
): Promise<Status> {
  const { plan, source: model } = conversion
  checkLoss(plan, maxLoss(allowLoss))
  if (receipt !== undefined) await checkReceiptPlace(receipt, inputs, directory)
  const signingKey = receipt === undefined ? undefined : await readSigningKey(options)
  const started = performance.now()
  const { damage, onDamage } = allowDamage ? allowedDamage(context) : {}
  const run = { allowLoss: maxLoss(allowLoss), onDamage, pool: context.pool }
  const files = await writeConversion(context, conversion, { pathOf, inputs, overwrite, resume }, run)
  const seconds = (performance.now() - started) / 1000
  if (receipt !== undefined) {
    const written = { plan, model, source: inputs[0]!, output: isFolder ? directory : files[0]!.name, damage }
    await markOutputErrors(model, () => writeReceipt(context, receipt, written, signingKey))
  }
  const where = files.length === 1 ? '' : ` in ${plural(files.length, 'file')}`
  const about = `${formatSize(plan.size)}${where}, ${seconds.toFixed(1)} s`
  await reportWritten(context, input, plan, files, about, {
    ...(receipt !== undefined && { receipt }),
    ...damageJson(damage),
  })
  return 0
}

/** Refuses what can be seen to be wrong before any input is opened. */
function checkOptions(
  context: Context,
  inputs: readonly string[],
  options: ConvertOptions,
  intoDirectory: boolean,
): void {
  const { output, to, dryRun } = options
  if (output === undefined && !(dryRun && to)) throw new UsageError('name the output with -o FILE')
  if (!dryRun) checkStdout(context, output)
  if (inputs.length > 1 && output !== undefined && !intoDirectory)
    throw new UsageError(
      'several inputs need a directory as output (-o DIR/); to join them into one model, use --merge',
    )
  if (to !== undefined) formatNamed(to, '--to')
  checkReceipt(inputs, options)
  checkMerge(inputs, options)
  if (output !== undefined) checkNames(inputs)
  checkQuantize(options)
  try {
    for (const rule of options.rename ?? []) parseRename(rule)
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}

/** Outputs of several inputs are named after them, and none may replace another. */
function checkNames(inputs: readonly string[]): void {
  const seen = new Map<string, string>()
  for (const input of inputs) {
    const stem = stemOf(input)
    const other = seen.get(stem)
    if (other !== undefined)
      throw new UsageError(`${other} and ${input} would have the same output; convert them one by one`)
    seen.set(stem, input)
  }
}

function checkReceipt(inputs: readonly string[], { receipt, output, key, certificate }: ConvertOptions): void {
  if (receipt === undefined) {
    if (key !== undefined || certificate !== undefined)
      throw new UsageError('--key signs the receipt; add --receipt FILE')
    return
  }
  if (inputs.length > 1) throw new UsageError('a receipt covers one input')
  if (output === '-') throw new UsageError('a receipt needs an output file; standard output cannot be read again')
  if (output !== undefined && resolve(output) === resolve(receipt))
    throw new UsageError('the receipt and the output need different names')
}

function checkMerge(inputs: readonly string[], { merge, prefer }: ConvertOptions): void {
  if (!merge && prefer !== undefined) throw new UsageError('--prefer needs --merge')
  if (!merge) return
  if (inputs.length > 1) throw new UsageError('with --merge, give one input and the others as --merge INPUT')
  checkStdin([...inputs, ...merge])
}

function checkQuantize(options: ConvertOptions): void {
  if (options.quantize !== undefined) return
  for (const name of Object.keys(quantizeFlags) as (keyof typeof quantizeFlags)[])
    if (options[name] !== undefined) throw new UsageError(`${longName(name)} needs --quantize METHOD`)
}
