import { failWith, type HashResult, hashModel, usageCodes } from '../../../kit-node.js'
import type { Context } from '../../context.js'
import { checkDamage, damageJson, namesOf } from '../../input/damage.js'
import { assertUnchanged, checkStdin, expandInputs, forEachModel, inputOptions, worse } from '../../input/run-inputs.js'
import { readSideFile } from '../../input/side-file.js'
import { withWorkers } from '../../input/with-workers.js'
import { type Status, UsageError } from '../../status.js'
import { checkManifest, writeManifest } from './files.js'
import type { HashOptions } from './index.js'
import { parseManifest } from './manifest.js'
import {
  describeCheck,
  describeHashes,
  differences,
  type HashRecord,
  isHashText,
  parseHashes,
  recordFor,
} from './text.js'

export default function hash(context: Context, inputs: readonly string[], options: HashOptions): Promise<Status> {
  return withWorkers(context, options.workers, (own) => hashHere(own, inputs, options))
}

async function hashHere(context: Context, inputs: readonly string[], options: HashOptions): Promise<Status> {
  const { console, signal, pool } = context
  checkStdin([options.check, ...inputs])
  const refuseWorkers = (): void => {
    if (options.workers !== undefined) throw new UsageError('--workers goes with models, not with lists of files')
  }
  if (options.manifest !== undefined) refuseWorkers()
  if (options.manifest !== undefined) return writeManifest(context, inputs, options.manifest)
  const text =
    options.check === undefined
      ? undefined
      : (await readSideFile(options.check, undefined, inputOptions(context))).toString()
  const list =
    text === undefined || isHashText(text) ? undefined : parseManifest(text, options.check!, options.algorithm)
  if (list) refuseWorkers()
  if (list) return checkManifest(context, inputs, list, options)
  if (options.changed) throw new UsageError('--changed goes with --check of a list by sha256sum, b3sum or gguf-hash')
  if (inputs.length === 0)
    throw new UsageError(
      text === undefined
        ? 'name the models to hash'
        : `${options.check} is not a list by sha256sum, b3sum or gguf-hash; name the models to compare with it`,
    )
  const records = text === undefined ? undefined : readRecords(text, options.check!)
  const expanded = await expandInputs(context, inputs, options)
  const status = await forEachModel(context, expanded.inputs, async (model, input, source) => {
    const record = records && recordFor(records, input, options)
    if (records && !record)
      failWith(usageCodes.option, { file: input, message: `${options.check} has no digests for it` })
    const algorithm = record?.algorithm ?? options.algorithm ?? 'blake3'
    const decoded = record?.decoded ?? options.decoded
    const damage = await checkDamage(context, model, options, namesOf(model.tensors))
    const hashed = await hashModel(model, { algorithm, decoded, pool, signal, onProgress: console.progress.update })
    await assertUnchanged([source])
    const result: HashResult & ReturnType<typeof damageJson> = { ...hashed, file: input, ...damageJson(damage) }
    if (!record) {
      if (context.json) await console.json(result)
      else {
        await console.beginBlock()
        await console.print(describeHashes(result, console))
      }
      return 0
    }
    const found = differences(record, result)
    if (context.json)
      await console.json({ ...result, check: { file: options.check, same: found.length === 0, differences: found } })
    else await console.print(describeCheck(result, found, console))
    return found.length === 0 ? 0 : 1
  })
  return worse(status, expanded.status)
}

function readRecords(text: string, file: string): HashRecord[] {
  const records = parseHashes(text)
  if (records.length === 0) throw new UsageError(`${file} does not look like the output of \`tare hash\``)
  return records
}
