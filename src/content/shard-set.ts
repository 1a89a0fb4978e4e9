// Writing a sharded model as Hugging Face does: numbered files, and an index that says which of them holds which tensor.
import { compareUtf8, encodeUtf8 } from '../bytes/index.js'
import type { FileLayout } from '../model/layout.js'
import type { JsonValue } from '../model/metadata.js'
import type { Tensor } from '../model/model.js'

/** Fills shards in order; a tensor larger than the limit gets one of its own. */
export function splitShards(tensors: readonly Tensor[], limit: number): Tensor[][] {
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

/** `model-00001-of-00002.safetensors` */
export function shardName(stem: string, index: number, count: number, extension: string): string {
  const number = (value: number): string => String(value).padStart(5, '0')
  return `${stem}-${number(index + 1)}-of-${number(count)}${extension}`
}

export function shardIndex(
  name: string,
  files: readonly FileLayout[],
  shards: readonly (readonly Tensor[])[],
  others: Readonly<Record<string, JsonValue>> = {},
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
  const metadata = Object.assign(Object.create(null), others, { total_size: total })
  const head = JSON.stringify(metadata, null, 2).replaceAll('\n', '\n  ')
  const text = `{\n  "metadata": ${head},\n  "weight_map": {\n${lines.join(',\n')}\n  }\n}\n`
  return { name, slots: [{ kind: 'bytes', path: 'index', bytes: encodeUtf8(text) }] }
}
