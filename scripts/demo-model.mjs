// A made-up model that looks like a small language model: layers with structure in them, a few columns that stand out, a vocabulary. The
// same for everybody, for screenshots and benchmarks.
import { writeModel } from '../dist/node.js'

/** A small generator, the same on every machine. */
function randomFrom(seed) {
  let state = seed >>> 0 || 1
  const next = () => {
    state ^= state << 13
    state >>>= 0
    state ^= state >>> 17
    state ^= state << 5
    state >>>= 0
    return state / 2 ** 32
  }
  return () => (next() + next() + next() + next() - 2) * Math.sqrt(3)
}

/** Weights with a smooth part, noise, and some columns that are larger than the others. */
function matrix(rows, columns, seed, size = 0.02) {
  const random = randomFrom(seed)
  const [a, b] = [Array.from({ length: rows }, random), Array.from({ length: columns }, random)]
  const loud = Array.from({ length: columns }, (_, i) => ((i * 7919 + seed * 31) % 97 === 0 ? 4 : 1))
  const data = new Float32Array(rows * columns)
  for (let i = 0; i < rows; i++)
    for (let j = 0; j < columns; j++)
      data[i * columns + j] = size * loud[j] * (random() + 0.8 * a[i] * b[j] + 0.6 * Math.sin(i / 37 + j / 53 + seed))
  return { shape: [rows, columns], data }
}

const ones = (length, seed) => {
  const random = randomFrom(seed)
  return { shape: [length], data: Float32Array.from({ length }, () => 1 + 0.1 * random()) }
}

export async function writeDemoModel(output, { layers = 6, hidden = 512, inner = 1536, vocabulary = 4096 } = {}) {
  const tensors = { 'model.embed_tokens.weight': matrix(vocabulary, hidden, 1) }
  for (let i = 0; i < layers; i++) {
    const at = `model.layers.${i}`
    tensors[`${at}.input_layernorm.weight`] = ones(hidden, 10 + i)
    for (const name of ['q', 'o'])
      tensors[`${at}.self_attn.${name}_proj.weight`] = matrix(hidden, hidden, 100 * i + name.charCodeAt(0))
    for (const name of ['k', 'v'])
      tensors[`${at}.self_attn.${name}_proj.weight`] = matrix(hidden / 4, hidden, 100 * i + name.charCodeAt(0))
    tensors[`${at}.post_attention_layernorm.weight`] = ones(hidden, 50 + i)
    tensors[`${at}.mlp.gate_proj.weight`] = matrix(inner, hidden, 100 * i + 7, 0.025)
    tensors[`${at}.mlp.up_proj.weight`] = matrix(inner, hidden, 100 * i + 8, 0.025)
    tensors[`${at}.mlp.down_proj.weight`] = matrix(hidden, inner, 100 * i + 9, 0.03)
  }
  tensors['model.norm.weight'] = ones(hidden, 5)
  tensors['lm_head.weight'] = matrix(vocabulary, hidden, 3)
  for (const tensor of Object.values(tensors)) if (tensor.shape.length === 2) tensor.dtype = 'f16'
  const metadata = {
    format: 'pt',
    author: 'made up for pictures',
    license: 'none',
    note: 'weights with structure and no meaning',
  }
  await writeModel({ tensors, metadata }, output)
}

if (process.argv[1] && import.meta.url.endsWith(process.argv[1].replace(/^.*\//, '')))
  await writeDemoModel(process.argv[2])

/** A mixture of experts: one tensor of many planes, two of which are not like the others. */
export async function writeExperts(output, { experts = 24, hidden = 256, inner = 384 } = {}) {
  const stacked = (rows, columns, seed) => {
    const data = new Float32Array(experts * rows * columns)
    for (let i = 0; i < experts; i++) {
      const size = i === 5 ? 0.004 : i === 17 ? 0.06 : 0.02
      data.set(matrix(rows, columns, seed + i, size).data, i * rows * columns)
    }
    return { shape: [experts, rows, columns], data, dtype: 'f16' }
  }
  const tensors = {
    'model.layers.0.mlp.gate.weight': { ...matrix(experts, hidden, 11), dtype: 'f16' },
    'model.layers.0.mlp.experts.gate_up_proj': stacked(2 * inner, hidden, 100),
    'model.layers.0.mlp.experts.down_proj': stacked(hidden, inner, 300),
  }
  await writeModel({ tensors, metadata: { format: 'pt' } }, output)
}
