// Models made by a formula, the same each time.
import { type ModelContent, type TensorContent, writeModel } from 'tare'
import { listOf, type MetaValue, text } from 'tare/kit'
import type { SampleFile, SampleName } from './samples.js'

const [hidden, inner, layers, tokens, experts] = [256, 768, 3, 512, 4]

export async function makeSample(name: SampleName): Promise<SampleFile> {
  if (name === 'quantized') {
    const options = { to: 'gguf', quantize: { method: 'q4_k' }, name: 'sample-q4_k.gguf' } as const
    const { files } = await writeModel({ ...content(), metadata: ggufMetadata() }, undefined, options)
    return { name: 'sample-q4_k.gguf', bytes: files[0]!.bytes }
  }
  const { files } = await writeModel(content(), undefined, { to: 'safetensors', name: 'sample.safetensors' })
  const { bytes } = files[0]!
  if (name === 'values') return { name: 'sample.safetensors', bytes }
  // As a download that broke off leaves it.
  return { name: 'sample-damaged.safetensors', bytes: bytes.slice(0, Math.floor(0.7 * bytes.byteLength)) }
}

function content(): ModelContent {
  const tensors: Record<string, TensorContent> = {}
  const add = (name: string, ...shape: number[]): void => {
    tensors[name] = { shape, data: valuesOf(name, shape), ...(shape.length > 1 && { dtype: 'bf16' }) }
  }
  add('token_embd.weight', tokens, hidden)
  for (let layer = 0; layer < layers; layer++) {
    const name = (part: string): string => `blk.${layer}.${part}.weight`
    add(name('attn_norm'), hidden)
    for (const part of ['attn_q', 'attn_k', 'attn_v', 'attn_output']) add(name(part), hidden, hidden)
    add(name('ffn_norm'), hidden)
    if (layer === layers - 1) {
      add(name('ffn_up_exps'), experts, inner, hidden)
      add(name('ffn_down_exps'), experts, hidden, inner)
    } else {
      for (const part of ['ffn_gate', 'ffn_up']) add(name(part), inner, hidden)
      add(name('ffn_down'), hidden, inner)
    }
  }
  add('output_norm.weight', hidden)
  return { tensors, metadata: { title: 'A sample: values made by a formula', license: 'none' } }
}

function ggufMetadata(): ReadonlyMap<string, MetaValue> {
  const words = Array.from({ length: tokens }, (_, i) => (i < 3 ? ['<unk>', '<s>', '</s>'][i]! : `▁token${i}`))
  const number = (value: number): MetaValue => ({ type: 'u32', value })
  return new Map<string, MetaValue>([
    ['general.architecture', text('llama')],
    ['general.name', text('A sample: values made by a formula')],
    ['llama.block_count', number(layers)],
    ['llama.embedding_length', number(hidden)],
    ['llama.attention.head_count', number(8)],
    ['llama.context_length', number(2048)],
    ['tokenizer.ggml.tokens', listOf('str', words.map(text))],
  ])
}

/** Waves over rows and columns, noise, and a few values far outside: what one meets in real weights. */
function valuesOf(name: string, shape: readonly number[]): Float32Array {
  const columns = shape.at(-1) ?? 1
  const count = shape.reduce((product, dim) => product * dim, 1)
  const values = new Float32Array(count)
  let state = [...name].reduce((sum, character) => Math.imul(sum, 31) + character.charCodeAt(0), 7) >>> 0
  const random = (): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return state / 2 ** 32
  }
  const [phase, turn] = [6 * random(), 0.02 + 0.05 * random()]
  const isVector = shape.length === 1
  for (let i = 0; i < count; i++) {
    const [row, column] = [Math.floor(i / columns), i % columns]
    const noise = random() + random() + random() + random() - 2
    const wave = (1.1 + Math.cos(phase + turn * row)) * (0.4 + Math.abs(Math.sin(0.02 * column + phase)))
    const far = random() < 2e-5 ? 14 : 1
    values[i] = isVector ? 1 + 0.08 * noise : 0.03 * noise * wave * far
  }
  return values
}
