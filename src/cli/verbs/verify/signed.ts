// Verifying a signature: who signed the model, and whether every file is what was signed. What is in the files is not looked at.
import { existsSync } from 'node:fs'
import {
  type Finding,
  findingOf,
  isMissing,
  isRemote,
  type SignatureResult,
  signatureCodes,
  signatureOf,
  TareError,
  type Trust,
  type VerifyResult,
  verdictOf,
  verifySignature,
} from '../../../kit-node.js'
import { escapeName } from '../../console/escape.js'
import type { Context } from '../../context.js'
import { inputOptions, reportFailure, worse } from '../../input/run-inputs.js'
import { readSideFile } from '../../input/side-file.js'
import { type Status, UsageError } from '../../status.js'
import type { VerifyOptions } from './index.js'

/** A signature lists every file of a model; this is far beyond those of the largest. */
const maxSignature = 256 << 20

export type SignedResult = VerifyResult & {
  readonly signature: Omit<SignatureResult, 'findings'> & { readonly file: string }
}

/** Calls `show` with the verdict on each input. */
export async function forEachSigned(
  context: Context,
  inputs: readonly string[],
  trust: Trust,
  options: VerifyOptions,
  show: (result: SignedResult, input: string) => Promise<Status>,
): Promise<Status> {
  let status: Status = 0
  for (const input of inputs) {
    const result = await verifySigned(context, input, trust, options)
    status = worse(status, typeof result === 'number' ? result : await show(result, input))
  }
  return status
}

/** A failure has been reported; the status is then all there is. */
async function verifySigned(
  context: Context,
  input: string,
  trust: Trust,
  options: VerifyOptions,
): Promise<SignedResult | Status> {
  const { console, signal, pool } = context
  const { strict = false, ignoreUnsigned } = options
  console.progress.start()
  try {
    const remote = inputOptions(context)
    const file = options.signature ?? (await signatureOf(input, remote))
    const bytes = options.signature === undefined ? await readOwn(context, file) : await read(context, file)
    if (!bytes) throw new UsageError(`there is no signature ${escapeName(file)}; --signature names one elsewhere`)
    const { findings, ...signature } = await verifySignature(input, bytes, file, {
      ...{ trust, signal, pool, remote, ignoreUnsigned, ignorePaths: options.ignorePath },
      onProgress: console.progress.update,
    })
    const verdict = verdictOf(findings, strict)
    const checked = { bytes: signature.checked.bytes, tensors: 0 }
    return { file: input, format: null, verdict, findings, checked, signature: { ...signature, file } }
  } catch (error) {
    if (!(error instanceof TareError)) throw error
    return await reportFailure(context, input, null, error)
  } finally {
    console.progress.finish()
  }
}

const read = (context: Context, file: string): Promise<Buffer> =>
  readSideFile(file, maxSignature, inputOptions(context))

/** The signature that lies with the model, where there is one. */
async function readOwn(context: Context, file: string): Promise<Buffer | undefined> {
  if (!isRemote(file) && !existsSync(file)) return undefined
  try {
    return await read(context, file)
  } catch (error) {
    if (await isMissing((error as Error).cause)) return undefined
    throw error
  }
}

/** Of the models that a signed receipt is about: their own signatures, where there are any. */
export async function findSignatures(context: Context, inputs: readonly string[], trust: Trust): Promise<Finding[]> {
  const findings: Finding[] = []
  for (const input of inputs) {
    const remote = inputOptions(context)
    const file = await signatureOf(input, remote)
    const bytes = await readOwn(context, file)
    if (!bytes) {
      findings.push(
        findingOf(signatureCodes.unsigned, {
          file: input,
          message: 'it has no signature of its own; the receipt vouches for it',
        }),
      )
      continue
    }
    const options = { trust, remote, signal: context.signal, pool: context.pool }
    for (const each of (await verifySignature(input, bytes, file, options)).findings) findings.push(each)
  }
  return findings
}

export function withFindings(result: VerifyResult, more: readonly Finding[], strict = false): VerifyResult {
  const findings = [...result.findings, ...more]
  return { ...result, findings, verdict: verdictOf(findings, strict) }
}

/** Flags that say nothing without the one that asks for a signature, and the other way round. */
export function checkSignatureFlags(trust: Trust | undefined, options: VerifyOptions, inputs: readonly string[]): void {
  const { signature, ignorePath, ignoreUnsigned, receipt, recursive, quick, profile } = options
  if (!trust) {
    if (signature !== undefined || ignorePath || ignoreUnsigned)
      throw new UsageError(
        'say whom to trust: --key FILE, --ca FILE, or --identity NAME with --issuer and --trust-root',
      )
    return
  }
  if (signature !== undefined && inputs.length > 1) throw new UsageError('--signature is about one model')
  if (receipt !== undefined) return
  if (profile !== undefined || recursive || quick)
    throw new UsageError('a signature is checked alone: run `tare verify` once more for what the files hold')
}
