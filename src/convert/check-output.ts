// Nothing is committed that would not open again.
import type { ByteSource } from '../bytes/index.js'
import { isSizeOf } from '../dtypes/index.js'
import { collectingReport, type Finding, failWith, placeOf, TareError, writeCodes } from '../errors/index.js'
import { openModel, recognise, requireFormat } from '../formats/index.js'
import { closeModel, isWritable, type Model, type Tensor } from '../model/index.js'

/** Throws unless the output opens as the format that it was written in, with the tensors that it was given. Closes it. */
export async function assertOpens(
  written: ByteSource,
  target: string,
  planned: Model,
  signal?: AbortSignal,
): Promise<void> {
  const file = written.name
  const refuse = (message: string, cause?: unknown): never =>
    failWith(writeCodes['not-readable'], { file, message: `it was not written: ${message}` }, { cause })
  let model: Model
  try {
    model = await openModel(written, { from: target, signal })
  } catch (error) {
    await written.close()
    if (!(error instanceof TareError) || signal?.aborted || error.code.startsWith('io/')) throw error
    return refuse(`it would not open again: ${error.message}`, error)
  }
  const [count, bytes] = [model.tensors.length, bytesOf(model.tensors)]
  await closeModel(model)
  // An exporter makes a graph of its own from the model.
  if (!isWritable(requireFormat(target))) return
  const [wantedCount, wantedBytes] = [planned.tensors.length, bytesOf(planned.tensors)]
  if (count !== wantedCount || bytes !== wantedBytes)
    refuse(`${wantedCount} tensors with ${wantedBytes} bytes were given, ${count} with ${bytes} would come back`)
}

function bytesOf(tensors: readonly Tensor[]): number {
  let sum = 0
  for (const { data } of tensors) sum += data?.byteLength ?? 0
  return sum
}

/** Throws unless every check of the format holds for the output. Closes it. */
export async function assertVerifies(written: ByteSource, target: string, signal?: AbortSignal): Promise<void> {
  const findings: Finding[] = []
  const report = collectingReport(written.name, findings)
  const { context, read } = await recognise(written, { from: target, signal, report })
  try {
    const { check } = await read()
    await check?.({ ...context, extra: {}, checked() {} })
  } catch (error) {
    if (!(error instanceof TareError) || !findings.includes(error.finding)) throw error
  } finally {
    await written.close()
  }
  const wrong = findings.find(({ severity }) => severity === 'error')
  if (!wrong) return
  const message = `what can be rebuilt would not pass its own checks, so nothing was written: ${wrong.message}`
  failWith(writeCodes['not-repaired'], { ...placeOf(wrong), message })
}

/** Throws when the bytes of a tensor are not those of its shape and type: no reader would accept the file. */
export function assertSizes(tensors: readonly Tensor[], file: string): void {
  for (const { name, dtype, shape, data } of tensors) {
    if (!data || isSizeOf(dtype, shape, data.byteLength)) continue
    const wanted = dtype.byteLength(shape)
    const takes = wanted === undefined ? 'is more than any file can hold' : `takes ${wanted}`
    const message = `${data.byteLength} bytes, but ${dtype.id} of shape [${shape.join(', ')}] ${takes}`
    failWith(writeCodes['size-mismatch'], { file: data.origin?.source.name ?? file, path: name, message })
  }
}
