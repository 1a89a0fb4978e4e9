// Receipts of conversions, as files.
import { readFile } from 'node:fs/promises'
import {
  type ByteSource,
  closeModel,
  FileSource,
  type Model,
  makeReceipt,
  openInput,
  openModel,
  openOutput,
  type Plan,
  parseReceipt,
  type Receipt,
  receiptLines,
  TareError,
} from '../node.js'
import type { Context } from './context.js'
import { assertNotInput } from './open-guarded.js'
import { poolOf } from './pool-of.js'
import { inputOptions, openOptions } from './run-inputs.js'
import { UsageError } from './status.js'

export interface Written {
  readonly plan: Plan
  readonly model: Model
  readonly source: ByteSource
  /** Where the output is. */
  readonly output: string
}

/** Writes the receipt of an output that is in its place. It is complete or not there at all. */
export async function writeReceipt(context: Context, file: string, written: Written): Promise<void> {
  const { plan, model, source, output } = written
  const { console, signal } = context
  await assertNotInput(file, source)
  const opened = await openModel(await openInput(output, { signal }), { from: plan.target, signal })
  try {
    console.progress.start()
    const pool = poolOf(context)
    const receipt = await makeReceipt(plan, model, opened, { pool, signal, onProgress: console.progress.update })
    if (source instanceof FileSource) await source.assertUnchanged()
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
  const text = await readFile(file, 'utf8').catch((error: Error) => {
    throw new UsageError(`--receipt ${file}: ${error.message}`)
  })
  try {
    return parseReceipt(text, file)
  } catch (error) {
    if (!(error instanceof TareError)) throw error
    throw new UsageError(`--receipt ${file}: ${error.finding.path}: ${error.finding.message}`)
  }
}

/** The source that a receipt speaks of. Whoever opens it closes it. */
export async function openReceiptSource(context: Context, input: string): Promise<Model> {
  return openModel(await openInput(input, inputOptions(context)), { ...openOptions(context), from: undefined })
}
