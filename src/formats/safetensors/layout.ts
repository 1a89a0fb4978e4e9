// Writing, with the same bytes as the reference library: tensors by falling rank of their type and then by name, metadata first and
// sorted, compact JSON, the header padded with spaces so that the data starts on a multiple of eight.
import { alignUp } from '../../bytes/index.js'
import { companionFiles } from '../../content/companions.js'
import { shardIndex, shardName, splitShards } from '../../content/shard-set.js'
import { failWith, writeCodes } from '../../errors/index.js'
import {
  dataSlot,
  type FileLayout,
  type Layout,
  type Model,
  slotsMadeBy,
  type Tensor,
  type WriteOptions,
} from '../../model/index.js'
import { inFileOrder } from './capabilities.js'
import { encodeHeader, headerLength, headerSlots } from './encode-header.js'
import { indexMetadataOf, storedMetadata } from './index-metadata.js'
import { maxHeaderLength, prefix, slackOption } from './structs.js'

/** Companions of the model are here only when the output is a directory of its own. */
export async function layout(model: Model, options: WriteOptions): Promise<Layout> {
  const { files } = layoutWeights(model, options)
  return { files: [...files, ...companionFiles(model)] }
}

function layoutWeights(model: Model, options: WriteOptions): Layout {
  const tensors = inFileOrder(model.tensors)
  const shards = options.shardSize === undefined ? [tensors] : splitShards(tensors, options.shardSize)
  if (shards.length === 1) {
    const single = { ...model, metadata: storedMetadata(model) }
    return { files: [layoutFile(options.name, tensors, single, options)] }
  }
  const stem = options.name.replace(/\.safetensors(\.index\.json)?$/i, '')
  const files = shards.map((shard, i) =>
    layoutFile(shardName(stem, i, shards.length, '.safetensors'), shard, model, options),
  )
  return { files: [shardIndex(`${stem}.safetensors.index.json`, files, shards, indexMetadataOf(model)), ...files] }
}

function layoutFile(name: string, tensors: readonly Tensor[], model: Model, options: WriteOptions): FileLayout {
  const json = encodeHeader(tensors, model.metadata)
  const slack = Number(options.extra?.[slackOption] ?? 0)
  const length = alignUp(prefix.size + headerLength(json) + slack, options.align ?? 8) - prefix.size
  if (length > maxHeaderLength) {
    const message = `the header would take ${length} bytes, readers refuse more than ${maxHeaderLength}; write shards`
    failWith(writeCodes['name-unsupported'], { file: name, path: 'header', message })
  }
  const slots = slotsMadeBy(function* () {
    yield* headerSlots(json, length)
    for (const tensor of tensors) {
      if (tensor.data) yield dataSlot(tensor.name, tensor.data)
    }
  })
  return { name, slots }
}
