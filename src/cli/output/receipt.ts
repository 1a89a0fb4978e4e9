// Receipts of conversions, as files.
import { stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import {
  type ByteSource,
  closeModel,
  type Finding,
  findingOf,
  ioCodes,
  type Model,
  makeReceipt,
  mergeModels,
  openInput,
  openModel,
  openOutput,
  type Plan,
  parseReceipt,
  type Receipt,
  receiptLines,
  TareError,
} from '../../kit-node.js'
import type { Context } from '../context.js'
import { assertUnchanged, OutputError, openModels } from '../input/run-inputs.js'
import { readSideFile } from '../input/side-file.js'
import { UsageError } from '../status.js'
import { assertNotInput } from './output.js'

export interface Written {
  readonly plan: Plan
  readonly model: Model
  readonly source: ByteSource
  /** Where the output is. */
  readonly output: string
  /** What was damaged in the source, and taken as it was. */
  readonly damage: readonly Finding[]
}

/** What would keep a receipt from being written is better reported before a long conversion than after it. */
export async function checkReceiptPlace(
  file: string,
  sources: readonly ByteSource[],
  outputDirectory: string,
): Promise<void> {
  await assertNotInput(file, sources)
  const isDirectory = async (path: string): Promise<boolean> =>
    (await stat(path).catch(() => undefined))?.isDirectory() ?? false
  if (await isDirectory(file))
    throw new OutputError(findingOf(ioCodes['not-a-file'], { file, message: 'this is a directory' }))
  // The directory of the output may still have to be made.
  const home = dirname(file)
  if (resolve(home) !== resolve(outputDirectory) && !(await isDirectory(home)))
    throw new OutputError(
      findingOf(ioCodes['not-found'], { file, message: 'there is no such directory to write it to' }),
    )
}

/** Writes the receipt of an output that is in its place. It is complete or not there at all. */
export async function writeReceipt(context: Context, file: string, written: Written): Promise<void> {
  const { plan, model, source, output, damage } = written
  const { console, signal, pool } = context
  const opened = await openModel(await openInput(output, { signal }), { from: plan.target, signal })
  try {
    console.progress.start()
    const receipt = await makeReceipt(plan, model, opened, {
      ...{ pool, signal, damage },
      onProgress: console.progress.update,
    })
    await assertUnchanged([source])
    const sink = await openOutput(file)
    try {
      const encoder = new TextEncoder()
      for (const line of receiptLines(receipt)) await sink.write(encoder.encode(`${line}\n`))
      await sink.close()
    } catch (error) {
      await sink.abort(error)
      throw error
    }
  } finally {
    await closeModel(opened)
  }
}

export async function readReceipt(file: string): Promise<Receipt> {
  const text = (await readSideFile(file)).toString()
  try {
    return parseReceipt(text, file)
  } catch (error) {
    if (!(error instanceof TareError)) throw error
    const { path, message } = error.finding
    throw new UsageError(`--receipt ${file}: ${path ? `${path}: ` : ''}${message}`)
  }
}

/** What a receipt says the output was made from. A merged model has several sources, the preferred one first. The caller closes it. */
export async function openReceiptSource(context: Context, inputs: readonly string[]): Promise<Model> {
  const models = (await openModels(context, inputs)).map(({ model }) => model)
  if (models.length === 1) return models[0]!
  try {
    return (await mergeModels(models as [Model, ...Model[]], { prefer: 'first', signal: context.signal })).model
  } catch (error) {
    for (const model of models) await closeModel(model)
    throw error
  }
}
