import { existsSync } from 'node:fs'
import { basename, dirname, resolve } from 'node:path'
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
  pathIn,
  planEdit,
  recoverEdit,
  runConversion,
  TareError,
  transferTo,
} from '../../../kit-node.js'
import { escapeName } from '../../console/escape.js'
import { plural } from '../../console/format-values.js'
import type { Context } from '../../context.js'
import { allowedDamage } from '../../input/damage.js'
import { forEachInput, openOptions } from '../../input/run-inputs.js'
import { settingsFrom } from '../../input/settings.js'
import { identityOf } from '../../output/identity.js'
import {
  assertNotInput,
  checkOutputName,
  checkStdout,
  markOutputErrors,
  openGuarded,
  writingTo,
} from '../../output/output.js'
import { type Status, UsageError } from '../../status.js'
import type { EditOptions } from './index.js'
import { describeEdit, type Outcome } from './text.js'

export default async function edit(context: Context, inputs: readonly string[], options: EditOptions): Promise<Status> {
  const [input] = inputs as readonly [string]
  const { console, signal } = context
  const { unset, renameTensor: rename, output, dryRun = false } = options
  const set = options.set && settingsFrom(options.set)
  const hasRecovered = await recover(context, input)
  if (!set && !unset && !rename) {
    if (hasRecovered) return 0
    throw new UsageError('say what to change with --set key=value, --unset key or --rename-tensor old=new')
  }
  // Node can read a file whose name is not UTF-8 (U+FFFD stands in for some of it), but would write to another.
  const isOddName = input.includes('\ufffd') && !existsSync(input)
  if (output === undefined && (input === '-' || (isRemote(input) && !isObject(input)) || isOddName))
    throw new UsageError('this input cannot be changed where it is; name the output with -o FILE')
  checkStdout(context, output)
  return forEachInput(context, inputs, async (source) => {
    // The files beside the model stay as they are: they are neither edited nor taken into it.
    delete (source as { folder?: unknown }).folder
    const model = await openModel(source, openOptions(context))
    if (output !== undefined) checkOutputName(output, model.format)
    const planned = await planEdit(
      model,
      { set, unset, rename },
      {
        name: basename(output ?? source.name),
        inPlace: output === undefined && !options.rewrite && source instanceof FileSource,
        ...(options.headerSlack !== undefined && { extra: { 'header-slack': options.headerSlack } }),
        signal,
      },
    )
    if (!planned.isOfMainFile && output === undefined) checkSingle(model, planned)
    if (planned.isOfMainFile && output !== undefined) checkBeside(model, source, output)
    const outcome = dryRun
      ? { ...foresee(source, planned, output), transfer: await transferTo(output ?? input, planned.conversion.layout) }
      : await markOutputErrors(model, () => carryOut(context, source, planned, options))
    if (context.json) {
      const { changes } = planned
      await console.json({ file: input, format: model.format, ...outcome, dryRun, changes })
    } else {
      const lines = describeEdit(model, planned, outcome, options)
      if (dryRun) await console.print(lines)
      else for (const line of lines) console.remark(line)
    }
    return 0
  })
}

/** An object is replaced by its edited copy, most of which the store makes by itself. */
const isObject = (input: string): boolean => /^(?:s3|gs):/i.test(input)

/** An edit that was interrupted is undone first, whether or not there is another one to make. */
async function recover({ console }: Context, input: string): Promise<boolean> {
  if (input === '-' || isRemote(input)) return false
  try {
    const source = await openInput(input)
    await source.close()
    return false
  } catch (error) {
    // Any other error is reported when the input is opened to be edited.
    if (!(error instanceof TareError) || error.code !== editCodes.interrupted.code) return false
    const file = error.finding.file ?? input
    await recoverEdit(file).catch((reason: TareError) => {
      throw new UsageError(`${escapeName(file)}: ${reason.message}`)
    })
    console.remark(`${escapeName(file)}: an edit was interrupted; the file is back to what it was before`)
    return true
  }
}

function checkSingle(model: Model, { conversion }: PlannedEdit): void {
  const count = Math.max(model.files.length, conversion.layout.files.length)
  if (count === 1) return
  const message = `it has ${count} files; write the edited model elsewhere with -o`
  failWith(editCodes['several-files'], { file: model.files[0]!.name, message })
}

/** The main file names the others by where they lie beside it. */
function checkBeside({ files }: Model, source: ByteSource, output: string): void {
  const isBeside =
    source instanceof FileSource && output !== '-' && resolve(dirname(output)) === resolve(dirname(source.path))
  if (files.length === 1 || isBeside) return
  const message = `its weights lie in ${plural(files.length - 1, 'other file')} beside it; write the edited model into the same directory`
  failWith(editCodes['several-files'], { file: source.name, message })
}

function foresee(source: ByteSource, { patch, conversion }: PlannedEdit, output = source.name): Outcome {
  const { size } = patch ?? conversion.plan
  if (!patch) return { how: 'rewritten', output, size, written: size }
  const written = patch.patches.reduce((sum, { bytes }) => sum + bytes.byteLength, 0)
  const isSame = written === 0 && size === source.size
  return { how: isSame ? 'unchanged' : 'in-place', output, size, written }
}

async function carryOut(
  context: Context,
  source: ByteSource,
  planned: PlannedEdit,
  { output, overwrite, resume, allowDamage }: EditOptions,
): Promise<Outcome> {
  const { console, signal } = context
  const foreseen = foresee(source, planned, output)
  if (foreseen.how === 'unchanged') return foreseen
  if (planned.patch && source instanceof FileSource) return { ...foreseen, how: await patchFile(source, planned.patch) }
  const main = output ?? (source instanceof FileSource ? source.path : source.name)
  const pathOf = (name: string): string => (main === '-' ? main : pathIn(dirname(main), name))
  const paths = planned.conversion.plan.files.map(({ name }) => pathOf(name))
  if (output !== undefined) for (const path of paths) await assertNotInput(path, [source])
  const identity = paths.some(isRemote) ? await identityOf(context, planned.conversion, [source]) : undefined
  const write = () =>
    runConversion(
      planned.conversion,
      (name) =>
        openGuarded(pathOf(name), [source], { signal, identity, resume, ...(output !== undefined && { overwrite }) }),
      { signal, onProgress: console.progress.update, ...(allowDamage && allowedDamage(context)) },
    )
  const written = await (output === undefined ? write() : writingTo(context, paths, write))
  const { name, transfer } = written[0]!
  return { ...foreseen, output: pathOf(name), ...(transfer && { transfer, written: transfer.uploaded }) }
}
