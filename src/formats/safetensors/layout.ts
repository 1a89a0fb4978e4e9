// Writing, with the same bytes as the reference library: tensors by falling rank of their type and then by name, metadata first and
// sorted, compact JSON, the header padded with spaces so that the data starts on a multiple of eight.
import { alignUp, compareUtf8, encodeUtf8, joinBytes, struct, u64 } from '../../bytes/index.js'
import { failWith, writeCodes } from '../../errors/index.js'
import { fileKind } from '../../model/companions.js'
import {
  type FileLayout,
  type JsonValue,
  type Layout,
  type Model,
  type Slot,
  slotsMadeBy,
  type Tensor,
  type TensorList,
  type WriteOptions,
} from '../../model/index.js'
import { tagByDType } from './dtypes.js'
import { inFileOrder } from './file-order.js'
import { entryPath } from './header.js'
import { maxHeaderLength, metadataKey, slackOption } from './limits.js'

const prefix = struct({ headerLength: u64 })

/** Files that belong to the model arrive here only when the output is a directory of its own. */
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
  if (shards.length === 1) return { files: [layoutFile(options.name, tensors, model, options)] }
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
function splitShards(tensors: TensorList, limit: number): Tensor[][] {
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

function layoutFile(name: string, tensors: TensorList, model: Model, options: WriteOptions): FileLayout {
  const json = headerPieces(tensors, model)
  const slack = Number(options.extra?.[slackOption] ?? 0)
  const length = alignUp(prefix.size + totalLength(json) + slack, options.align ?? 8) - prefix.size
  if (length > maxHeaderLength) {
    const message = `the header would take ${length} bytes, readers refuse more than ${maxHeaderLength}; write shards`
    failWith(writeCodes['name-unsupported'], { file: name, path: 'header', message })
  }
  const head = headerSlots(json, length)
  const slots = slotsMadeBy(function* () {
    yield* head
    for (const tensor of tensors) {
      if (tensor.data) yield { kind: 'payload', path: `data[${JSON.stringify(tensor.name)}]`, payload: tensor.data }
    }
  })
  return { name, slots }
}

/** The length, and the header filled up to it. */
export function headerSlots(json: readonly Uint8Array[], length: number): Slot[] {
  const header = joinBytes([...json, new Uint8Array(length - totalLength(json)).fill(0x20)])
  return [
    { kind: 'bytes', path: 'header_length', bytes: prefix.write({ headerLength: BigInt(length) }) },
    { kind: 'bytes', path: 'header', bytes: header },
  ]
}

export const totalLength = (pieces: readonly Uint8Array[]): number =>
  pieces.reduce((sum, { byteLength }) => sum + byteLength, 0)

/** So many members become bytes together: as texts, those of a whole header would take several times its size. */
const membersTogether = 4096

/**
 * The JSON, in pieces. One tensor lies behind the other, unless `offsetOf` says where in the data section each one begins.
 */
export function headerPieces(tensors: TensorList, model: Model, offsetOf?: (tensor: Tensor) => number): Uint8Array[] {
  const pieces: Uint8Array[] = []
  let members: string[] = []
  for (const member of headerMembers(tensors, model, offsetOf)) {
    if (members.length === membersTogether) {
      pieces.push(encodeUtf8(`${pieces.length === 0 ? '{' : ''}${members.join(',')},`))
      members = []
    }
    members.push(member)
  }
  pieces.push(encodeUtf8(`${pieces.length === 0 ? '{' : ''}${members.join(',')}}`))
  return pieces
}

function* headerMembers(
  tensors: TensorList,
  model: Model,
  offsetOf: ((tensor: Tensor) => number) | undefined,
): Generator<string, void, void> {
  const metadata = [...model.metadata].toSorted(([a], [b]) => compareUtf8(a, b))
  if (metadata.length > 0) {
    const pairs = metadata.map(([key, value]) => {
      if (value.type !== 'str')
        failWith(writeCodes['name-unsupported'], { file: '', path: key, message: 'metadata must be strings' })
      return `${JSON.stringify(key)}:${JSON.stringify(value.value)}`
    })
    yield `${JSON.stringify(metadataKey)}:{${pairs.join(',')}}`
  }
  let offset = 0
  for (const tensor of tensors) {
    const tag = tagByDType.get(tensor.dtype.id)
    const size = tensor.data?.byteLength
    if (!tag || size === undefined) {
      const message = tag
        ? 'a tensor without data has no place in safetensors'
        : `safetensors has no type for ${tensor.dtype.id}`
      failWith(writeCodes['dtype-unsupported'], { file: '', path: entryPath(tensor.name), message })
    }
    if (offsetOf) offset = offsetOf(tensor)
    const range = `"data_offsets":[${offset},${offset + size}]`
    yield `${JSON.stringify(tensor.name)}:{"dtype":"${tag.tag}","shape":[${tensor.shape.join(',')}],${range}}`
    offset += size
  }
}

function layoutIndex(name: string, files: readonly FileLayout[], shards: TensorList[], model: Model): FileLayout {
  const kept = model.parts.find((part) => part.kind === 'safetensors.index-metadata')?.value
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
  const metadata = Object.assign(Object.create(null), kept as Record<string, JsonValue> | undefined, {
    total_size: total,
  })
  const head = JSON.stringify(metadata, null, 2).replaceAll('\n', '\n  ')
  const text = `{\n  "metadata": ${head},\n  "weight_map": {\n${lines.join(',\n')}\n  }\n}\n`
  return { name, slots: [{ kind: 'bytes', path: 'index', bytes: encodeUtf8(text) }] }
}
