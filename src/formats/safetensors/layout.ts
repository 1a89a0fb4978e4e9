// Writing, with the same bytes as the reference library: tensors by falling rank of their type and then by name, metadata first and
// sorted, compact JSON, the header padded with spaces so that the data starts on a multiple of eight.
import { alignUp, compareUtf8, encodeUtf8 } from '../../bytes/index.js'
import { fileKind } from '../../content/companions.js'
import { failWith, writeCodes } from '../../errors/index.js'
import {
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
  return { files: [...files, ...layoutCompanions(model)] }
}

function layoutCompanions({ parts }: Model): FileLayout[] {
  return parts.flatMap(({ kind, name, data }) =>
    kind === fileKind && name !== undefined && data
      ? [{ name, slots: [{ kind: 'payload' as const, path: name, payload: data }] }]
      : [],
  )
}

function layoutWeights(model: Model, options: WriteOptions): Layout {
  const tensors = inFileOrder(model.tensors)
  const shards = options.shardSize === undefined ? [tensors] : splitShards(tensors, options.shardSize)
  if (shards.length === 1) {
    const single = { ...model, metadata: storedMetadata(model) }
    return { files: [layoutFile(options.name, tensors, single, options)] }
  }
  const stem = options.name.replace(/\.safetensors(\.index\.json)?$/i, '')
  const files = shards.map((shard, i) => {
    const number = String(i + 1).padStart(5, '0')
    return layoutFile(
      `${stem}-${number}-of-${String(shards.length).padStart(5, '0')}.safetensors`,
      shard,
      model,
      options,
    )
  })
  return { files: [layoutIndex(`${stem}.safetensors.index.json`, files, shards, model), ...files] }
}

/** Fills shards in order; a tensor larger than the limit gets one of its own. */
function splitShards(tensors: readonly Tensor[], limit: number): Tensor[][] {
  const shards: Tensor[][] = []
  let room = 0
  for (const tensor of tensors) {
    const size = tensor.data?.byteLength ?? 0
    if (shards.length === 0 || size > room) {
      shards.push([])
      room = limit
    }
    shards.at(-1)!.push(tensor)
    room -= size
  }
  return shards.length === 0 ? [[]] : shards
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
      if (tensor.data) yield { kind: 'payload', path: `data[${JSON.stringify(tensor.name)}]`, payload: tensor.data }
    }
  })
  return { name, slots }
}

function layoutIndex(
  name: string,
  files: readonly FileLayout[],
  shards: readonly (readonly Tensor[])[],
  model: Model,
): FileLayout {
  const weights: [string, string][] = []
  let total = 0
  for (const [i, shard] of shards.entries()) {
    for (const tensor of shard) {
      weights.push([tensor.name, files[i]!.name])
      total += tensor.data?.byteLength ?? 0
    }
  }
  weights.sort(([a], [b]) => compareUtf8(a, b))
  // Built by hand: an object would lose or misuse names such as `__proto__`.
  const lines = weights.map(([tensor, file]) => `    ${JSON.stringify(tensor)}: ${JSON.stringify(file)}`)
  const metadata = Object.assign(Object.create(null), indexMetadataOf(model), { total_size: total })
  const head = JSON.stringify(metadata, null, 2).replaceAll('\n', '\n  ')
  const text = `{\n  "metadata": ${head},\n  "weight_map": {\n${lines.join(',\n')}\n  }\n}\n`
  return { name, slots: [{ kind: 'bytes', path: 'index', bytes: encodeUtf8(text) }] }
}
