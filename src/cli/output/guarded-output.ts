// Outputs that are made from an input.
import { stat } from 'node:fs/promises'
import {
  type ByteSink,
  type ByteSource,
  type FileSinkOptions,
  FileSource,
  findingOf,
  ioCodes,
  type Model,
  openOutput,
  TareError,
} from '../../node.js'
import { expectAllBytes } from '../console/process-events.js'

/** The output cannot be written, as opposed to an input that cannot be read. */
export class OutputError extends TareError {}

/** Opens the output. When an input changed while it was read, nothing becomes visible. */
export function openGuarded(
  output: string,
  inputs: ByteSource | readonly ByteSource[],
  options: FileSinkOptions,
): Promise<ByteSink> {
  if (output === '-') expectAllBytes()
  return openOutput(output, { ...options, beforeCommit: () => assertUnchanged([inputs].flat()) })
}

/** Throws when an input is not what it was when it was opened: what was found out then belongs to no state of it. */
export async function assertUnchanged(inputs: readonly ByteSource[]): Promise<void> {
  for (const input of inputs) await input.assertUnchanged?.()
}

/** A model is not written over itself: its old file, perhaps the only copy, would be gone as soon as the new one is there. */
export async function assertNotInput(output: string, input: ByteSource): Promise<void> {
  const there = await stat(output).catch(() => undefined)
  if (!there || !(input instanceof FileSource)) return
  for (const path of await input.openPaths()) {
    const { dev, ino } = await stat(path)
    if (dev !== there.dev || ino !== there.ino) continue
    throw new OutputError(
      findingOf(ioCodes.exists, { file: output, message: 'this is the input itself; choose another name' }),
    )
  }
}

/** Runs what reads a model and writes an output, and tells the two sides' errors apart. */
export const markOutputErrors = <T>(model: Model, call: () => Promise<T>): Promise<T> =>
  markErrorsOf((file) => model.files.every(({ name }) => name !== file), call)

/** The same where it is the names of the outputs that are known. */
export async function markErrorsOf<T>(isOutput: (file: string) => boolean, call: () => Promise<T>): Promise<T> {
  try {
    return await call()
  } catch (error) {
    if (!(error instanceof TareError) || !error.code.startsWith('io/') || !isOutput(error.finding.file)) throw error
    throw new OutputError(error.finding, { cause: error.cause })
  }
}
