// An encoder of the shape of all-MiniLM-L6-v2, with made-up values: each tensor has a generator that starts at a hash of its name.
import { bytesPayload, dtypeById } from '../dist/index.js'

const [hidden, intermediate, layers] = [384, 1536, 6]

export function encoderModel() {
  const tensors = [...shapes()].map(([name, shape]) => ({
    name,
    dtype: dtypeById('f32'),
    shape,
    order: 'row',
    role: 'weight',
    data: bytesPayload(new Uint8Array(values(name, shape).buffer)),
  }))
  return { format: 'bench', metadata: new Map(), tensors, parts: [], files: [] }
}

function* shapes() {
  yield ['embeddings.word_embeddings.weight', [30522, hidden]]
  yield ['embeddings.position_embeddings.weight', [512, hidden]]
  yield ['embeddings.token_type_embeddings.weight', [2, hidden]]
  yield* pair('embeddings.LayerNorm', [hidden])
  for (let i = 0; i < layers; i++) {
    for (const name of ['self.query', 'self.key', 'self.value', 'output.dense'])
      yield* pair(`encoder.layer.${i}.attention.${name}`, [hidden, hidden])
    yield* pair(`encoder.layer.${i}.attention.output.LayerNorm`, [hidden])
    yield* pair(`encoder.layer.${i}.intermediate.dense`, [hidden, intermediate])
    yield* pair(`encoder.layer.${i}.output.dense`, [intermediate, hidden])
    yield* pair(`encoder.layer.${i}.output.LayerNorm`, [hidden])
  }
}

function* pair(stem, shape) {
  yield [`${stem}.weight`, shape]
  yield [`${stem}.bias`, shape.slice(-1)]
}

function values(name, shape) {
  const isScale = name.includes('LayerNorm.weight')
  const divisor = isScale ? 8 : name.includes('LayerNorm.bias') ? 16 : name.endsWith('.bias') ? 32 : 8
  let x = 0x811c9dc5
  for (const byte of new TextEncoder().encode(name)) x = Math.imul(x ^ byte, 0x01000193) >>> 0
  return new Float32Array(shape.reduce((product, size) => product * size, 1)).map(() => {
    x = (Math.imul(1664525, x) + 1013904223) >>> 0
    return (isScale ? 1 : 0) + ((x >>> 16) - 32768) / 32768 / divisor
  })
}
