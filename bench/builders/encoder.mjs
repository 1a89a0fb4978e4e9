// An encoder of the shape of all-MiniLM-L6-v2, with made-up values: each tensor has a generator that starts at a hash of its name.
import { bytesPayload, dtypeById } from '../../dist/kit.js'

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

/** As many tokens as a typical vocabulary has: the special ones, letters, and made-up syllables, half of them as continuations. */
export function vocabularyText() {
  const lines = ['[PAD]', '[UNK]', '[CLS]', '[SEP]', '[MASK]', ...'abcdefghijklmnopqrstuvwxyz.,'].flatMap((token) =>
    token.length === 1 ? [token, `##${token}`] : [token],
  )
  for (let i = 0; lines.length < 30_522; i++) {
    const word = [...i.toString(20)].map((digit) => 'abcdefghijklmnopqrst'[Number.parseInt(digit, 20)]).join('')
    if (word.length > 1) lines.push(i % 2 === 0 ? word : `##${word}`)
  }
  return new TextEncoder().encode(lines.join('\n'))
}
