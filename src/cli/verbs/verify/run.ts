import { closeModel, type VerifyResult, verifySource } from '../../../kit-node.js'
import type { Context } from '../../context.js'
import { expandInputs, worse } from '../../input/expand-inputs.js'
import { forEachInput, openOptions } from '../../input/run-inputs.js'
import { meansCannotRun, type Status, UsageError } from '../../status.js'
import type { VerifyOptions } from './index.js'
import { describeCounts, describeResult } from './text.js'

export default async function verify(
  context: Context,
  inputs: readonly string[],
  options: VerifyOptions,
): Promise<Status> {
  const { console, pool, formatOptions } = context
  const { quick, strict, profile } = options
  if (options.receipt !== undefined && quick) throw new UsageError('--receipt reads the weights; leave out --quick')
  if (options.source !== undefined && options.receipt === undefined) throw new UsageError('--source needs --receipt')
  const receipts = options.receipt === undefined ? undefined : await import('../../output/receipt.js')
  const receipt = await receipts?.readReceipt(options.receipt!)
  const found = await expandInputs(context, inputs, options)
  const counts: Record<VerifyResult['verdict'], number> = { ok: 0, warnings: 0, errors: 0 }
  const status = await forEachInput(context, found.inputs, async (source, input) => {
    const receiptSource = options.source && (await receipts?.openReceiptSource(context, options.source))
    const result = await verifySource(source, {
      ...openOptions(context),
      ...{ quick, strict, profile, receipt, receiptSource, pool },
      extra: formatOptions,
      onProgress: console.progress.update,
    }).finally(() => receiptSource && closeModel(receiptSource))
    if (context.json) await console.json({ ...result, file: input })
    else await console.print(describeResult(result, input, context, options))
    counts[result.verdict]++
    return statusOf(result)
  })
  if (found.isSeveral && !context.json) await console.print([describeCounts(counts, found.inputs.length)])
  return worse(status, found.status)
}

/** A file that could not be read to its end was not judged. */
function statusOf({ verdict, findings }: VerifyResult): Status {
  if (findings.some(({ code, severity }) => severity === 'error' && meansCannotRun(code))) return 2
  return verdict === 'errors' ? 1 : 0
}
