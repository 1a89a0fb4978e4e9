// A directory as the hub publishes sentence encoders: weights of a BERT encoder with the buffer of positions that the library registers, the
// configuration, and the files of the tokenizer. Small, and made up.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { bytesPayload, dtypeById, type Model, type Tensor, text } from '../../src/kit.js'
import { convertToFiles } from './convert.js'
import { type EncoderSize, encoder } from './encoder.js'

export interface HubOptions {
  readonly prefix?: string
  readonly positions?: readonly number[]
  readonly metadata?: Readonly<Record<string, string>>
  readonly size?: EncoderSize
}

export const smallSize: Required<EncoderSize> = { hidden: 24, intermediate: 36, layers: 2, vocab: 10, positions: 512 }
const tokens = ['[PAD]', '[UNK]', '[CLS]', '[SEP]', '[MASK]', 'a', 'text', '##s', '.', 'of']

const upTo = (count: number): number[] => Array.from({ length: count }, (_, i) => i)

function positionIds(name: string, values: readonly number[]): Tensor {
  const data = bytesPayload(new Uint8Array(BigInt64Array.from(values.map(BigInt)).buffer))
  return { name, dtype: dtypeById('i64')!, shape: [1, values.length], order: 'row', role: 'weight', data }
}

/** The weights as a model. */
export function hubModel({
  prefix = '',
  positions,
  metadata = { format: 'pt' },
  size = smallSize,
}: HubOptions = {}): Model {
  const model = encoder('out-in', size, prefix)
  const ids = positionIds(`${prefix}embeddings.position_ids`, positions ?? upTo(size.positions ?? 8))
  const entries = Object.entries(metadata).map(([key, value]) => [key, text(value)] as const)
  return { ...model, tensors: [...model.tensors, ids], metadata: new Map(entries) }
}

/** Writes the directory and gives back its path. */
export async function writeHubDirectory(path: string, options: HubOptions = {}): Promise<string> {
  const { hidden, intermediate, layers, vocab, positions } = { ...smallSize, ...options.size }
  const files = await convertToFiles(hubModel(options), 'safetensors', { name: 'model.safetensors' })
  mkdirSync(path, { recursive: true })
  const put = (name: string, content: string | Uint8Array): void => writeFileSync(join(path, name), content)
  for (const [name, bytes] of files) put(name, bytes)
  const config = {
    _name_or_path: 'somebody/tiny-encoder',
    architectures: ['BertModel'],
    model_type: 'bert',
    hidden_size: hidden,
    intermediate_size: intermediate,
    num_attention_heads: 4,
    num_hidden_layers: layers,
    max_position_embeddings: positions,
    vocab_size: vocab,
  }
  put('config.json', JSON.stringify(config, null, 2))
  put('tokenizer.json', JSON.stringify({ version: '1.0', model: { type: 'WordPiece', vocab: {} } }))
  put('vocab.txt', tokens.map((token) => `${token}\n`).join(''))
  return path
}
