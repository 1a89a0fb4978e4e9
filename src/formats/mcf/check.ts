// What can be seen in the bytes of a file without checksums: bytes that belong to nothing are zero, and quantized tensors have scales that
// are numbers and codes that writers use.
import { type ByteSource, batches, gaps, pieces, type Range } from '../../bytes/index.js'
import { blockLayout } from '../../dtypes/mcf/layout.js'
import { methodOf } from '../../dtypes/mcf/types.js'
import type { CheckContext, Model } from '../../model/index.js'
import { codes } from './codes.js'
import { type ModelInfoContent, modelInfoOf } from './model-info/filled-info.js'
import { hasIntMark } from './model-info/int-mark.js'
import { checkBlocks } from './quant/check-blocks.js'
import { checkInt } from './quant/check-int.js'
import { oddByteIn } from './quant/regions.js'
import { rangesOf } from './tensor-index/read-tensors.js'

/** What reading found out about the file. */
interface Found {
  /** Bytes that belong to no section. */
  readonly gaps: readonly Range[]
  /** The TensorData section. */
  readonly data: Range | undefined
}

export async function check(model: Model, found: Found, context: CheckContext): Promise<void> {
  await checkGaps(model, found, context)
  const info = modelInfoOf(model.parts)?.content as ModelInfoContent | undefined
  const isMeant = hasIntMark(info?.extras)
  const seen = new Set<string>()
  for (const tensor of model.tensors) {
    const method = methodOf(tensor.dtype.id)
    const origin = tensor.data?.origin
    if (!method || !tensor.data || !origin) continue
    if (method.family === 'int') {
      await checkInt(tensor, method, tensor.data, isMeant, context)
      continue
    }
    const key = `${tensor.dtype.id} ${tensor.shape} ${origin.offset}`
    const layout = blockLayout(method, tensor.shape)
    if (seen.has(key) || layout?.byteLength !== tensor.data.byteLength) continue
    seen.add(key)
    await checkBlocks(tensor, method, layout, tensor.data, context)
  }
}

/** Writers leave zeros outside of sections, and in TensorData outside of tensors; no reader looks at them. */
async function checkGaps(model: Model, found: Found, context: CheckContext): Promise<void> {
  const [source] = model.files
  if (!source) return
  const complain = ({ offset, byte }: OddByte, path: string, what: string): void =>
    context.report.report(codes.padding, {
      ...{ offset, length: 1, path },
      message: `a byte is ${byte}, but should be zero: ${what}`,
    })
  for (const gap of found.gaps) {
    const odd = await firstOddByte([gap], source, context)
    if (odd) complain(odd, 'sections', `bytes ${gap.start} to ${gap.end - 1} belong to no section`)
  }
  if (!found.data) return
  const between = gaps(rangesOf(model.tensors), found.data.start, found.data.end)
  const odd = await firstOddByte(between, source, context)
  if (odd) complain(odd, 'tensor_data.padding', 'it belongs to no tensor')
}

/** Ranges no farther apart than this are read at once: there can be one behind each tensor. */
const near = 1 << 16
const maxBatch = 1 << 22

interface OddByte {
  readonly offset: number
  readonly byte: number
}

async function firstOddByte(
  ranges: Iterable<Range>,
  source: ByteSource,
  { signal }: CheckContext,
): Promise<OddByte | undefined> {
  for (const batch of batches(pieces(ranges, maxBatch), near, maxBatch)) {
    const bytes = await source.read(batch.start, batch.end - batch.start, { signal })
    for (const { start, end } of batch.ranges) {
      const odd = oddByteIn(bytes.subarray(start - batch.start, end - batch.start))
      if (odd >= 0) return { offset: start + odd, byte: bytes[start - batch.start + odd]! }
    }
  }
  return undefined
}
