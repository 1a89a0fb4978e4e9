// What `tare plan` and `tare convert --workers` ask for, from their flags.
import type { JobRequest, Model } from '../../kit-node.js'
import type { Context } from '../context.js'
import { quantizeSettings } from '../flags/quantize.js'
import { maxLoss } from '../output/conversion.js'
import { isDirectory, placeFor } from '../output/output.js'
import { UsageError } from '../status.js'
import type { PlanOptions } from '../verbs/plan/index.js'
import { nameMapFrom } from './name-map.js'
import { settingsFrom } from './settings.js'

/** `target` is where the output goes. */
export async function jobRequest(
  context: Context,
  input: string,
  target: string,
  options: Omit<PlanOptions, 'output' | 'workers'>,
): Promise<JobRequest> {
  const intoDirectory = await isDirectory(target)
  const { only, exclude, rename, cast, dequantize, unset, shardSize, align, deterministic } = options
  const { asIs, keepBytes, keepOrientation, stow, dedup, files, without } = options
  const { merge = [], stats, vocab, imatrix, prefer, overwrite = true, allowDamage, partSize } = options
  if (prefer !== undefined && merge.length === 0) throw new UsageError('--prefer needs --merge')
  const quantize = await quantization(options)
  return {
    inputs: [
      { role: 'model', address: input, from: context.from, lenient: context.lenient || undefined },
      ...merge.map((address) => ({ role: 'merge', address }) as const),
      ...(typeof stats === 'string' ? [{ role: 'state', address: stats } as const] : []),
      ...(imatrix === undefined ? [] : [{ role: 'importance', address: imatrix } as const]),
      ...(vocab === undefined ? [] : [{ role: 'vocabulary', address: vocab } as const]),
    ],
    place(model: Model) {
      const place = placeFor(input, model, { output: target, to: options.to, files }, intoDirectory, intoDirectory)
      return { target: place.format.id, name: place.name, directory: place.directory, isFolder: place.isFolder }
    },
    options: {
      ...{ only, exclude, rename, cast, dequantize, unset, shardSize, align, deterministic },
      ...{ asIs, keepBytes, keepOrientation, stow, dedup, files, without },
      set: options.set && settingsFrom(options.set),
      preTokenizer: options.pre,
      ...(options.renameMap !== undefined && { renameMap: await nameMapFrom('--rename-map', options.renameMap) }),
      ...(quantize && { quantize }),
      dropState: stats === false,
      extra: context.formatOptions,
    },
    ownState: stats === true || undefined,
    prefer,
    overwrite,
    allowLoss: maxLoss(options.allowLoss),
    allowDamage,
    partSize,
  }
}

/** Quantizing can be asked for by a method, by one for each tensor, or by a size. */
async function quantization(
  options: Omit<PlanOptions, 'output' | 'workers'>,
): Promise<JobRequest['options']['quantize']> {
  const { quantize, methods, targetSize, targetBits } = options
  const asked = [quantize, targetSize, targetBits].filter((each) => each !== undefined)
  if (asked.length > 1) throw new UsageError('--quantize, --target-size and --target-bits exclude each other')
  if (asked.length === 0) {
    if (methods !== undefined) throw new UsageError('--methods needs --quantize METHOD for the other tensors')
    return undefined
  }
  const target = targetSize === undefined ? targetBits && { bits: targetBits } : { size: targetSize }
  return {
    ...quantizeSettings(quantize ?? 'q8_0', options, undefined),
    ...(methods !== undefined && { methods: await nameMapFrom('--methods', methods) }),
    ...(target && { target }),
  }
}
