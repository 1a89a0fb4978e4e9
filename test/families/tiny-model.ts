// A Llama of two layers with a SentencePiece tokenizer of eight pieces: small, made up, and convertible without anybody's vocabulary.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { bytesPayload, dtypeById, type Model, type Tensor } from '../../src/kit.js'
import { convertToFiles } from '../support/convert.js'

export const tinyConfig = {
  architectures: ['LlamaForCausalLM'],
  model_type: 'llama',
  hidden_size: 8,
  intermediate_size: 12,
  num_attention_heads: 2,
  num_key_value_heads: 1,
  num_hidden_layers: 2,
  max_position_embeddings: 64,
  rms_norm_eps: 1e-5,
  rope_theta: 10000,
  vocab_size: 8,
  bos_token_id: 1,
  eos_token_id: 2,
}

type Shapes = Readonly<Record<string, readonly number[]>>

const layer = (n: number): Shapes => ({
  [`model.layers.${n}.input_layernorm.weight`]: [8],
  [`model.layers.${n}.post_attention_layernorm.weight`]: [8],
  [`model.layers.${n}.self_attn.q_proj.weight`]: [8, 8],
  [`model.layers.${n}.self_attn.k_proj.weight`]: [4, 8],
  [`model.layers.${n}.self_attn.v_proj.weight`]: [4, 8],
  [`model.layers.${n}.self_attn.o_proj.weight`]: [8, 8],
  [`model.layers.${n}.mlp.gate_proj.weight`]: [12, 8],
  [`model.layers.${n}.mlp.up_proj.weight`]: [12, 8],
  [`model.layers.${n}.mlp.down_proj.weight`]: [8, 12],
})

export const tinyShapes: Shapes = {
  'model.embed_tokens.weight': [8, 8],
  'model.norm.weight': [8],
  'lm_head.weight': [8, 8],
  ...layer(0),
  ...layer(1),
}

/** Numbers that tell every element of a model apart. */
export function tinyTensors(shapes: Shapes, dtype = 'f32'): Tensor[] {
  let next = 0
  return Object.entries(shapes).map(([name, shape]) => {
    const count = shape.reduce((product, each) => product * each, 1)
    const values = Float32Array.from({ length: count }, () => ++next)
    const bytes = dtype === 'f32' ? new Uint8Array(values.buffer) : encoded(dtype, values)
    return { name, dtype: dtypeById(dtype)!, shape, order: 'row', role: 'weight', data: bytesPayload(bytes) }
  })
}

function encoded(dtype: string, values: Float32Array): Uint8Array {
  const bytes = new Uint8Array(values.length * 2)
  dtypeById(dtype)!.codec!.fromF32!(values, bytes)
  return bytes
}

type Piece = readonly [text: string, score: number, type: number]

const pieces: readonly Piece[] = [
  ['<unk>', 0, 2],
  ['<s>', 0, 3],
  ['</s>', 0, 3],
  ['<0x41>', 0, 6],
  ['▁a', -1, 1],
  ['b', -2, 1],
  ['c', -3, 4],
]

/** The pieces as a SentencePiece model. */
export function sentencePiece(): Uint8Array {
  return sentencePieceOf(pieces)
}

/** SentencePiece itself wants all bytes or none. */
export const withoutBytes = (): Uint8Array => sentencePieceOf(pieces.filter(([, , type]) => type !== 6))

function sentencePieceOf(pieces: readonly Piece[]): Uint8Array {
  const field = (number: number, body: readonly number[]): number[] => [(number << 3) | 2, body.length, ...body]
  const float = (number: number, value: number): number[] => [
    (number << 3) | 5,
    ...new Uint8Array(Float32Array.of(value).buffer),
  ]
  return Uint8Array.from(
    pieces.flatMap(([text, score, type]) =>
      field(1, [...field(1, [...new TextEncoder().encode(text)]), ...float(2, score), 3 << 3, type]),
    ),
  )
}

export interface TinyOptions {
  readonly config?: Readonly<Record<string, unknown>>
  readonly shapes?: Shapes
  readonly dtype?: string
  /** More files; null leaves one out. */
  readonly files?: Readonly<Record<string, string | Uint8Array | null>>
}

/** Writes the directory and gives back its path. */
export async function writeTinyModel(path: string, options: TinyOptions = {}): Promise<string> {
  const { config = tinyConfig, shapes = tinyShapes, dtype } = options
  const tensors = tinyTensors(shapes, dtype)
  const model: Model = { format: 'memory', metadata: new Map(), tensors, parts: [], files: [] }
  const weights = await convertToFiles(model, 'safetensors', { name: 'model.safetensors' })
  const files: Record<string, string | Uint8Array | null> = {
    'config.json': JSON.stringify(config),
    'tokenizer.model': sentencePiece(),
    'model.safetensors': weights.get('model.safetensors')!,
    ...options.files,
  }
  mkdirSync(path, { recursive: true })
  for (const [name, content] of Object.entries(files)) if (content !== null) writeFileSync(join(path, name), content)
  return path
}
