import { decodeLossy } from '../../bytes/index.js'
import { withCompanions } from '../../model/companions.js'
import type { Fit, Format, MetaValue, Tensor, WriteCapabilities } from '../../model/index.js'
import { check } from './check.js'
import { codes } from './codes.js'
import { tagByDType } from './dtypes.js'
import { editInPlace } from './edit-in-place.js'
import { maxHeaderLength, metadataKey } from './header.js'
import { inFileOrder, layout, slackOption } from './layout.js'
import { readFile } from './read.js'
import { readIndex } from './read-index.js'

/** How far to look for the beginning of an index's weight map. */
const headSize = 65_536
const indexSuffix = '.safetensors.index.json'
const published = ['model.safetensors', `model${indexSuffix}`] as const

export const safetensors: Format = {
  id: 'safetensors',
  title: 'safetensors',
  extensions: ['.safetensors', indexSuffix],
  capabilities: { checksums: 'none', plain: true, write: writeCapabilities() },
  codes,
  mends: 'of a cut file the whole tensors, once the header is there; of a set those in the files that are left',

  detect(head, name, size) {
    if (looksLikeIndex(head)) return 'yes'
    const lower = name.toLowerCase()
    const named = lower.endsWith('.safetensors') || lower.endsWith(indexSuffix)
    if (head.byteLength >= 9) {
      const length = new DataView(head.buffer, head.byteOffset).getBigUint64(0, true)
      const plausible = length >= 2n && length <= BigInt(Math.min(maxHeaderLength, size - 8))
      if (plausible && head[8] === 0x7b)
        return head.byteLength > 9 && [0x22, 0x7d, 0x20, 0x0a].includes(head[9]!) ? 'yes' : 'maybe'
    }
    return named ? 'maybe' : 'no'
  },

  published,
  mainFile(names) {
    // Beside the usual names there can be others for the same weights, such as model.fp16.safetensors.
    const usual = [published[1], published[0]].find((name) => names.includes(name))
    if (usual !== undefined) return usual
    const indexes = names.filter((name) => name.endsWith(indexSuffix))
    if (indexes.length === 1) return indexes[0]
    const files = names.filter((name) => name.endsWith('.safetensors'))
    return files.length === 1 ? files[0] : undefined
  },

  async read(source, context) {
    const head = await source.read(0, Math.min(source.size, headSize), { signal: context.signal })
    const model = await (looksLikeIndex(head) ? readIndex(source, context) : readFile(source, context))
    return withCompanions(model, source, context)
  },

  check,
  layout,
  editInPlace,
  options: {
    write: [
      {
        name: slackOption,
        argument: 'SIZE',
        kind: 'size',
        description: 'leave this much room in the header, so that later edits need not move the weights',
      },
    ],
  },

  restorePart(part) {
    const { kind, value } = part
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    return kind === 'safetensors.index-metadata' && isObject ? part : undefined
  },
}

/** JSON text that mentions a weight map of safetensors files near its beginning, or lists metadata first. */
function looksLikeIndex(head: Uint8Array): boolean {
  const text = decodeLossy(head.subarray(0, headSize)).trimStart()
  // A file whose header is 123 bytes long starts with "{" too, but then zeros follow.
  if (!text.startsWith('{') || text.startsWith('{\0') || !/"(weight_map|metadata)"\s*:/.test(text)) return false
  const firstFile = /"weight_map"\s*:\s*\{\s*"(?:[^"\\]|\\.)*"\s*:\s*"([^"]*)"/.exec(text)?.[1]
  return firstFile === undefined ? /"weight_map"/.test(text) : !/\.bin$/i.test(firstFile)
}

/** Only the remainder of the count matters, and it cannot overflow. */
function fillsBytes(shape: readonly number[], bits: number): boolean {
  return (shape.reduce((count, dim) => (count * (dim % 8)) % 8, 1) * bits) % 8 === 0
}

function writeCapabilities(): WriteCapabilities {
  return {
    order: 'row',
    sorts: { tensors: inFileOrder, metadata: true },
    shards: true,
    folder: true,
    tensor(tensor: Tensor): Fit<Tensor> {
      const tag = tagByDType.get(tensor.dtype.id)
      if (!tag) return { fits: false, reason: `safetensors has no type for ${tensor.dtype.id}` }
      if (!tensor.data) return { fits: false, reason: 'safetensors cannot declare a tensor without data' }
      if (!fillsBytes(tensor.shape, tag.bits)) {
        const reason = `elements of ${tag.bits} bits must fill whole bytes in safetensors, [${tensor.shape.join(', ')}] do not`
        return { fits: false, reason }
      }
      if (tensor.name === metadataKey) return { fits: false, reason: `the name ${metadataKey} is reserved` }
      return { fits: true }
    },
    metadata(_key: string, value: MetaValue): Fit<MetaValue> {
      if (value.type === 'str' && !value.bytes) return { fits: true }
      return { fits: false, reason: 'safetensors metadata are strings' }
    },
    part: () => ({ fits: false, reason: 'safetensors has no place for it' }),
  }
}
