// Reads files of Keras: an HDF5 file with weights or with a whole model, or an archive with such a file in it.
import type { ByteSource } from '../../bytes/index.js'
import { verifyCodes } from '../../errors/index.js'
import type { Model, Opened, ReadContext } from '../../model/index.js'
import { startsLikeZip } from '../../wire/zip/guess.js'
import { readArchive } from './archive.js'
import { ownCodes as codes } from './codes.js'
import type { Contents } from './contents.js'
import { configKey, modelInfo } from './metadata.js'
import { checkPacked, readWeights } from './weights.js'

export async function read(source: ByteSource, context: ReadContext): Promise<Opened> {
  const head = await source.read(0, Math.min(source.size, 64), { signal: context.signal })
  return startsLikeZip(head) ? readArchive(source, context) : readFile(source, context)
}

async function readFile(source: ByteSource, context: ReadContext): Promise<Opened> {
  const { contents, version } = await readWeights(source, context)
  const { tensors, metadata } = contents
  if (!isByKeras(contents)) {
    const message = 'it has no group and no attribute that Keras writes'
    context.report.report(codes['not-keras'], { offset: 0, path: 'file', message })
  }
  const config = metadata.get(configKey)
  const parts = modelInfo(config?.type === 'str' ? config.value : undefined)
  const variant = config ? 'whole' : 'weights'
  const model: Model = { format: 'keras', version, variant, metadata, tensors, parts, files: [source] }
  return {
    model,
    async check(checking) {
      const message = 'HDF5 as Keras writes it has no checksums; damage inside the weights cannot be seen'
      if (!checking.only) checking.report.report(verifyCodes['no-checksums'], { message })
      await checkPacked(contents, checking)
    },
  }
}

/** Keras 3 keeps the variables of every layer in a group `vars`; before, files named their layers. */
function isByKeras({ metadata, tensors }: Contents): boolean {
  const keys = ['keras_version', 'layer_names', 'model_weights@layer_names']
  return keys.some((key) => metadata.has(key)) || tensors.some(({ name }) => name.split('/').includes('vars'))
}
