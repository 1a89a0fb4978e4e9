import { isRemote, openOutput, pathBelow, signatureOf, signModel, TareError } from '../../../kit-node.js'
import { escapeName } from '../../console/escape.js'
import { formatBytes, plural } from '../../console/format-values.js'
import type { Context } from '../../context.js'
import { inputOptions, reportFailure } from '../../input/run-inputs.js'
import { readSigningKey } from '../../input/signature-file.js'
import { type Status, UsageError } from '../../status.js'
import type { SignVerbOptions } from './index.js'

export default async function sign(
  context: Context,
  [model = '']: readonly string[],
  options: SignVerbOptions,
): Promise<Status> {
  const { console, signal, pool } = context
  if (options.key === undefined) throw new UsageError('give the private key with --key FILE')
  const remote = inputOptions(context)
  console.progress.start()
  try {
    const signingKey = (await readSigningKey(options))!
    const output = options.output ?? (await signatureOf(model, remote))
    if (isRemote(output) && !/^(?:s3|gs):/i.test(output))
      throw new UsageError(`a signature cannot be written to ${escapeName(output)}; name a file with -o`)
    const own = await pathBelow(model, output)
    const result = await signModel(model, {
      ...signingKey,
      ...{ pool, signal, remote, hash: options.hash, shardSize: options.pieces },
      ...{ allowSymlinks: options.allowSymlinks, tensors: options.tensors },
      ignorePaths: [...(options.ignorePath ?? []), ...(own === undefined ? [] : [own])],
      onProgress: console.progress.update,
    })
    const sink = await openOutput(output, { overwrite: options.overwrite !== false })
    try {
      await sink.write(new TextEncoder().encode(result.text))
      await sink.close()
    } catch (error) {
      await sink.abort(error)
      throw error
    }
    const { files: count, bytes, signer } = result
    if (context.json) await console.json({ file: model, format: null, signature: output, signer, files: count, bytes })
    else if (output !== '-')
      await console.print([
        `${escapeName(output)}: ${plural(count, 'file')}, ${formatBytes(bytes)}, signed by ${escapeName(signer)}`,
      ])
    return 0
  } catch (error) {
    if (!(error instanceof TareError)) throw error
    return await reportFailure(context, model, null, error)
  } finally {
    console.progress.finish()
  }
}
