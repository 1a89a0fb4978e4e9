// What is not a tensor: numbers, texts, lists, settings of an optimizer. Each object is an archive of torch.save without storages, small
// enough to be read when the checkpoint is opened. Plain values become metadata under the object's name; tensors inside an object, which
// were not cut into chunks, become tensors.
import { isSystemFailure, TareError } from '../../errors/index.js'
import type { MetaValue, ReadContext, Tensor } from '../../model/index.js'
import { codes } from './codes.js'
import { openItem, type PlacedItems, pathOf } from './items.js'
import type { StatedObject } from './metadata.js'

export interface Objects {
  readonly metadata: Map<string, MetaValue>
  readonly tensors: readonly Tensor[]
}

export async function readObjects(
  stated: readonly StatedObject[],
  placed: PlacedItems,
  context: ReadContext,
): Promise<Objects> {
  const { report, limits } = context
  const metadata = new Map<string, MetaValue>()
  const tensors: Tensor[] = []
  let bytes = 0
  for (const { name, offset } of stated) {
    const item = placed.find(name)
    const path = pathOf({ name, at: undefined })
    if (!item) {
      context.onLost?.({ subject: 'metadata', name, reason: 'it is not there in full' })
      if (!placed.isListed(name))
        report.report(codes['item-missing'], { offset, path, message: 'its place is not listed' })
      continue
    }
    bytes += item.length
    if (bytes > limits.indexBytes) {
      const message = `the objects take more than ${limits.indexBytes} bytes`
      report.fail(codes['objects-size'], { offset, path, message })
    }
    try {
      const { model } = await openItem(item, context, report)
      for (const [key, value] of model.metadata) metadata.set(key, value)
      for (const tensor of model.tensors) tensors.push(tensor)
    } catch (error) {
      // It was reported; the others are read as well.
      if (report.strict || !(error instanceof TareError) || isSystemFailure(error)) throw error
      context.onLost?.({ subject: 'metadata', name, reason: error.finding.message })
    }
  }
  return { metadata, tensors }
}
