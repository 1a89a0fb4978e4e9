import { basename, dirname, join, resolve } from 'node:path'
import {
  type ByteSource,
  editCodes,
  FileSource,
  failWith,
  isRemote,
  type Model,
  openInput,
  openModel,
  type PlannedEdit,
  patchFile,
  planEdit,
  recoverEdit,
  runConversion,
  TareError,
} from '../../../node.js'
import type { Context } from '../../context.js'
import { type DamageFlags, damageAllowed } from '../../input/damage.js'
import { escapeName, escapeText } from '../../console/escape.js'
import { formatInteger, formatSize, plural } from '../../console/format-values.js'
import { assertNotInput, markOutputErrors, openGuarded } from '../../output/guarded-output.js'
import { checkOutputName } from '../../output/output-name.js'
import { forEachInput, openOptions } from '../../input/run-inputs.js'
import { type Status, UsageError } from '../../status.js'

interface EditFlags extends DamageFlags {
  readonly set?: readonly (readonly [string, string])[]
  readonly unset?: readonly string[]
  readonly renameTensor?: readonly (readonly [string, string])[]
  readonly output?: string
  readonly dryRun?: boolean
  readonly rewrite?: boolean
  readonly headerSlack?: number
  readonly overwrite?: boolean
}

/** How the file was, or would be, changed. */
type How = 'unchanged' | 'in-place' | 'patched' | 'cloned' | 'rewritten'

interface Outcome {
  readonly how: How
  /** What was edited, or made. */
  readonly output: string
  readonly size: number
  /** Bytes that went to the disk. */
  readonly written: number
}

export default async function edit(context: Context, inputs: readonly string[], flags: EditFlags): Promise<Status> {
  const [input] = inputs as readonly [string]
  const { set, unset, renameTensor: rename, output } = flags
  const hasRecovered = await recover(context, input)
  if (!set && !unset && !rename) {
    if (hasRecovered) return 0
    throw new UsageError('say what to change with --set key=value, --unset key or --rename-tensor old=new')
  }
  if (output === undefined && (input === '-' || isRemote(input)))
    throw new UsageError('this input cannot be changed where it is; say where to with -o FILE')
  if (output === '-' && context.json) throw new UsageError('--json and -o - both want standard output')
  return forEachInput(context, inputs, async (source) => {
    // The files beside the model stay as they are: they are neither edited nor taken into it.
    if (source instanceof FileSource) delete source.folder
    const model = await openModel(source, openOptions(context))
    if (output !== undefined) checkOutputName(output, model.format)
    const planned = await planEdit(
      model,
      { set, unset, rename },
      {
        name: basename(output ?? source.name),
        inPlace: output === undefined && !flags.rewrite,
        ...(flags.headerSlack !== undefined && { extra: { 'header-slack': flags.headerSlack } }),
        signal: context.signal,
      },
    )
    if (!planned.isOfMainFile && output === undefined) checkSingle(model, planned)
    if (planned.isOfMainFile && output !== undefined) checkBeside(model, source, output)
    const outcome = flags.dryRun
      ? foresee(source, planned, output)
      : await markOutputErrors(model, () => carryOut(context, source, planned, flags))
    await report(context, input, model, planned, outcome, flags)
    return 0
  })
}

/** An edit that was interrupted is undone first, whether or not there is another one to make. */
async function recover({ console }: Context, input: string): Promise<boolean> {
  if (input === '-' || isRemote(input)) return false
  try {
    const source = await openInput(input)
    await source.close()
    return false
  } catch (error) {
    // Anything else that is wrong is said when the input is opened to be edited.
    if (!(error instanceof TareError) || error.code !== editCodes.interrupted.code) return false
    const file = error.finding.file ?? input
    await recoverEdit(file).catch((reason: TareError) => {
      throw new UsageError(`${escapeName(file)}: ${reason.message}`)
    })
    console.remark(`${escapeName(file)}: an edit was interrupted; the file is again what it was before`)
    return true
  }
}

function checkSingle(model: Model, { conversion }: PlannedEdit): void {
  const count = Math.max(model.files.length, conversion.layout.files.length)
  if (count === 1) return
  const message = `it has ${count} files; write the edited model elsewhere with -o`
  failWith(editCodes['several-files'], { file: model.files[0]!.name, message })
}

/** The other files are named in the main one by where they lie beside it. */
function checkBeside({ files }: Model, source: ByteSource, output: string): void {
  const isBeside =
    source instanceof FileSource && output !== '-' && resolve(dirname(output)) === resolve(dirname(source.path))
  if (files.length === 1 || isBeside) return
  const message = `its weights lie in ${plural(files.length - 1, 'other file')} beside it; write the edited model into the same directory`
  failWith(editCodes['several-files'], { file: source.name, message })
}

function foresee(source: ByteSource, { patch, conversion }: PlannedEdit, output: string | undefined): Outcome {
  const where = output ?? source.name
  if (!patch) return { how: 'rewritten', output: where, size: conversion.plan.size, written: conversion.plan.size }
  const written = patchedBytes(patch)
  const isSame = written === 0 && patch.size === source.size
  return { how: isSame ? 'unchanged' : 'in-place', output: where, size: patch.size, written }
}

const patchedBytes = ({ patches }: NonNullable<PlannedEdit['patch']>): number =>
  patches.reduce((sum, { bytes }) => sum + bytes.byteLength, 0)

async function carryOut(
  context: Context,
  source: ByteSource,
  planned: PlannedEdit,
  { output, overwrite, allowDamage }: EditFlags,
): Promise<Outcome> {
  const { console, signal } = context
  const foreseen = foresee(source, planned, output)
  if (foreseen.how === 'unchanged') return foreseen
  if (planned.patch && source instanceof FileSource) return { ...foreseen, how: await patchFile(source, planned.patch) }
  const main = output ?? (source as FileSource).path
  const pathOf = (name: string): string => (main === '-' ? main : join(dirname(main), name))
  for (const { name } of planned.conversion.plan.files)
    if (output !== undefined && output !== '-') await assertNotInput(pathOf(name), source)
  const written = await runConversion(
    planned.conversion,
    (name) => openGuarded(pathOf(name), source, output === undefined ? {} : { overwrite }),
    { signal, onProgress: console.progress.update, onDamage: damageAllowed(context, allowDamage).onDamage },
  )
  return { ...foreseen, output: pathOf(written[0]!.name) }
}

async function report(
  { console, json }: Context,
  input: string,
  model: Model,
  { changes, patch }: PlannedEdit,
  outcome: Outcome,
  flags: EditFlags,
): Promise<void> {
  const isDry = flags.dryRun === true
  const { how, output, size, written } = outcome
  if (json) {
    await console.json({ file: input, format: model.format, how, output, size, written, dryRun: isDry, changes })
    return
  }
  const lines = changes.map(({ action, name, to }) => {
    const arrow =
      action === 'rename' ? `→ ${escapeName(to!)}` : to === undefined ? '' : `= ${escapeText(JSON.stringify(to))}`
    return `  ${action} ${escapeName(name)} ${arrow}`.trimEnd()
  })
  const places = patch ? ` in ${plural(patch.patches.length, 'place')}` : ''
  const said: Readonly<Record<How, string>> = {
    unchanged: 'it is like this already; nothing was written',
    'in-place': `would be changed in place: ${formatInteger(written)} bytes${places}, the weights stay where they are`,
    patched: `changed in place: ${formatInteger(written)} bytes${places}, the weights stayed where they are`,
    cloned: `changed in a copy that shares the weights: ${formatInteger(written)} bytes${places}`,
    rewritten: `${isDry ? 'would be ' : ''}written anew, ${formatSize(size)}${flags.output === undefined && !flags.rewrite ? ': the layout has no room for the change' : ''}`,
  }
  const print = isDry ? (text: string) => console.print([text]) : (text: string) => console.remark(text)
  for (const line of lines) await print(line)
  await print(`${escapeName(output)}: ${model.format}, ${said[how]}`)
}
