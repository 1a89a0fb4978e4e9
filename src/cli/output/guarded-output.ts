// Outputs that are made from inputs: no input is written over, and nothing becomes visible when an input changed while it was read.
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
import { assertUnchanged, OutputError } from '../input/run-inputs.js'

export function openGuarded(
  output: string,
  inputs: readonly ByteSource[],
  options: FileSinkOptions,
): Promise<ByteSink> {
  if (output === '-') expectAllBytes()
  return openOutput(output, { ...options, beforeCommit: () => assertUnchanged(inputs) })
}

/** A model is not written over itself: its old file, perhaps the only copy, would be gone as soon as the new one is there. */
export async function assertNotInput(output: string, inputs: readonly ByteSource[]): Promise<void> {
  const there = output === '-' ? undefined : await stat(output).catch(() => undefined)
  if (!there) return
  for (const input of inputs)
    for (const path of input instanceof FileSource ? await input.openPaths() : []) {
      const { dev, ino } = await stat(path)
      if (dev !== there.dev || ino !== there.ino) continue
      throw new OutputError(
        findingOf(ioCodes.exists, { file: output, message: 'this is the input itself; choose another name' }),
      )
    }
}

/** Runs what reads a model and writes an output, and tells the errors of the two apart. */
export const markOutputErrors = <T>(model: Model, call: () => Promise<T>): Promise<T> =>
  markErrorsOf((file) => model.files.every(({ name }) => name !== file), call)

/** The same where the names of the outputs are known. */
export async function markErrorsOf<T>(isOutput: (file: string) => boolean, call: () => Promise<T>): Promise<T> {
  try {
    return await call()
  } catch (error) {
    if (!(error instanceof TareError) || !error.code.startsWith('io/') || !isOutput(error.finding.file)) throw error
    throw new OutputError(error.finding, { cause: error.cause })
  }
}
