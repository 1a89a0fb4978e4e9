import { closeModel, TareError, type VerifyResult, verifySource } from '../../../kit-node.js'
import type { Context } from '../../context.js'
import { expandInputs, forEachInput, openOptions, reportFailure, worse } from '../../input/run-inputs.js'
import { readTrust } from '../../input/signature-file.js'
import { withWorkers } from '../../input/with-workers.js'
import { meansCannotRun, type Status, UsageError } from '../../status.js'
import type { VerifyOptions } from './index.js'
import { checkSignatureFlags, findSignatures, forEachSigned, type SignedResult, withFindings } from './signed.js'
import { describeCounts, describeResult } from './text.js'

export default function verify(context: Context, inputs: readonly string[], options: VerifyOptions): Promise<Status> {
  return withWorkers(context, options.workers, (own) => verifyHere(own, inputs, options))
}

async function verifyHere(context: Context, inputs: readonly string[], options: VerifyOptions): Promise<Status> {
  const { console, pool, formatOptions } = context
  const { quick, strict, profile } = options
  if (options.receipt !== undefined && quick) throw new UsageError('--receipt reads the weights; leave out --quick')
  if (options.source !== undefined && options.receipt === undefined) throw new UsageError('--source needs --receipt')
  const receipts = options.receipt === undefined ? undefined : await import('../../output/receipt.js')
  const trust = await readTrust(options)
  checkSignatureFlags(trust, options, inputs)
  const receipt = await receipts
    ?.readReceipt(options.receipt!, trust)
    .catch((error) => failedReceipt(context, options, error))
  if (typeof receipt === 'number') return receipt
  const counts: Record<VerifyResult['verdict'], number> = { ok: 0, warnings: 0, errors: 0 }
  const show = async (result: VerifyResult | SignedResult, input: string): Promise<Status> => {
    if (context.json) await console.json({ ...result, file: input })
    else await console.print(describeResult(result, input, context, options))
    counts[result.verdict]++
    return statusOf(result)
  }
  if (trust && !receipt) return forEachSigned(context, inputs, trust, options, show)
  const found = await expandInputs(context, inputs, options)
  const status = await forEachInput(context, found.inputs, async (source, input) => {
    const receiptSource = options.source && (await receipts?.openReceiptSource(context, options.source))
    const result = await verifySource(source, {
      ...openOptions(context),
      ...{ quick, strict, profile, receipt, receiptSource, pool },
      extra: formatOptions,
      onProgress: console.progress.update,
    }).finally(() => receiptSource && closeModel(receiptSource))
    if (!trust) return show(result, input)
    const signed = await findSignatures(context, [input, ...(options.source ?? [])], trust)
    return show(withFindings(result, signed, strict), input)
  })
  if (found.isSeveral && !context.json) await console.print([describeCounts(counts, found.inputs.length)])
  return worse(status, found.status)
}

/** A receipt that is not signed by somebody who is trusted is the answer "no". */
async function failedReceipt(context: Context, { receipt = '' }: VerifyOptions, error: unknown): Promise<Status> {
  if (error instanceof TareError) return reportFailure(context, receipt, null, error)
  throw error
}

/** A file that could not be read to its end was not judged. */
function statusOf({ verdict, findings }: VerifyResult): Status {
  if (findings.some(({ code, severity }) => severity === 'error' && meansCannotRun(code))) return 2
  return verdict === 'errors' ? 1 : 0
}
