// Mixtures of experts of 1 and 10 TB in bf16 that exist only as arithmetic, with the shapes that such models have.
import { fillNormal } from '../builders/normal.mjs'
import { virtualFile } from '../builders/virtual.mjs'

export const models = {
  '1 TB': { hidden: 7168, inner: 2048, experts: 256, layers: 44, vocabulary: 129_280 },
  '10 TB': { hidden: 14_336, inner: 4096, experts: 384, layers: 73, vocabulary: 129_280 },
}

/** A single expert of the smaller one. */
export const sample = { hidden: 7168, inner: 2048, experts: 1, layers: 1 }

/** A safetensors file; `onRead` is told how many bytes were read. */
export function virtualMixture(shape, onRead = () => {}) {
  const entries = {}
  let end = 0
  for (const [name, dims] of tensorsOf(shape)) {
    const from = end
    end += 2 * dims.reduce((a, b) => a * b, 1)
    entries[name] = { dtype: 'BF16', shape: dims, data_offsets: [from, end] }
  }
  const text = new TextEncoder().encode(JSON.stringify(entries))
  const head = new Uint8Array(8 + Math.ceil(text.byteLength / 8) * 8).fill(32)
  new DataView(head.buffer).setBigUint64(0, BigInt(head.byteLength - 8), true)
  head.set(text, 8)
  const segments = [
    { at: 0, length: head.byteLength, bytes: head },
    { at: head.byteLength, length: end },
  ]
  const file = virtualFile('virtual.safetensors', segments, bf16Pattern())
  const readInto = file.readInto.bind(file)
  file.readInto = (offset, target) => {
    onRead(target.byteLength)
    return readInto(offset, target)
  }
  return file
}

function* tensorsOf({ hidden, inner, experts, layers, vocabulary }) {
  if (vocabulary) yield ['model.embed_tokens.weight', [vocabulary, hidden]]
  for (let layer = 0; layer < layers; layer++) {
    const at = `model.layers.${layer}`
    if (vocabulary) {
      for (const each of ['q', 'k', 'v', 'o']) yield [`${at}.self_attn.${each}_proj.weight`, [hidden, hidden]]
      yield [`${at}.input_layernorm.weight`, [hidden]]
      yield [`${at}.mlp.gate.weight`, [experts, hidden]]
    }
    for (let expert = 0; expert < experts; expert++) {
      yield [`${at}.mlp.experts.${expert}.gate_proj.weight`, [inner, hidden]]
      yield [`${at}.mlp.experts.${expert}.up_proj.weight`, [inner, hidden]]
      yield [`${at}.mlp.experts.${expert}.down_proj.weight`, [hidden, inner]]
    }
  }
}

/** The upper halves of f32 values. */
function bf16Pattern() {
  const values = new Float32Array(2 ** 19)
  fillNormal(values, 1, 0.02)
  const halves = new Uint16Array(values.buffer).filter((_, i) => i % 2 === 1)
  return new Uint8Array(halves.buffer)
}
