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
  openStatement,
  type Plan,
  parseReceipt,
  type Receipt,
  receiptIn,
  receiptLines,
  receiptStatement,
  type SigningKey,
  signStatement,
  TareError,
  type Trust,
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
  readonly damage?: readonly Finding[] | undefined
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
export async function writeReceipt(
  context: Context,
  file: string,
  written: Written,
  signingKey?: SigningKey,
): Promise<void> {
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
      if (signingKey) await sink.write(encoder.encode(signStatement(receiptStatement(receipt), signingKey).text))
      else for (const line of receiptLines(receipt)) await sink.write(encoder.encode(`${line}\n`))
      await sink.close()
    } catch (error) {
      await sink.abort(error)
      throw error
    }
  } finally {
    await closeModel(opened)
  }
}

/** A receipt as a file, or in a signed statement. With somebody to trust, it must be signed by them. */
export async function readReceipt(file: string, trust: Trust | undefined): Promise<Receipt> {
  const bytes = await readSideFile(file)
  try {
    if (trust) return parseReceipt(receiptIn((await openStatement(bytes, file, trust)).statement, file), file)
    return parseReceipt(unsignedText(bytes, file), file)
  } catch (error) {
    // A signature that does not hold is an answer, a file that is no receipt is not.
    if (!(error instanceof TareError) || error.code.startsWith('signature/')) throw error
    const { path, message } = error.finding
    throw new UsageError(`--receipt ${file}: ${path ? `${path}: ` : ''}${message}`)
  }
}

function unsignedText(bytes: Buffer, file: string): string {
  const text = bytes.toString()
  if (!text.startsWith('{"mediaType"')) return text
  throw new UsageError(`${file} is signed; say whom to trust with --key, --ca or --identity`)
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
