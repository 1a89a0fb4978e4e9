import { writeFileSync } from 'node:fs'

/** Writes a GGUF file with a vocabulary of this size. Returns the length of its header. */
export function writeVocabulary(path, { tokens, merges, tensors }) {
  const pieces = []
  const u32 = (value) => put(4, (view) => view.setUint32(0, value, true))
  const u64 = (value) => put(8, (view) => view.setBigUint64(0, BigInt(value), true))
  const text = (value) => {
    const encoded = Buffer.from(value)
    u64(encoded.length)
    pieces.push(encoded)
  }
  const put = (size, set) => {
    const piece = Buffer.alloc(size)
    set(new DataView(piece.buffer, piece.byteOffset, size))
    pieces.push(piece)
  }
  const list = (key, type, count, item) => {
    text(key)
    u32(9)
    u32(type)
    u64(count)
    for (let i = 0; i < count; i++) item(i)
  }
  pieces.push(Buffer.from('GGUF'))
  u32(3)
  u64(tensors)
  u64(4)
  text('general.architecture')
  u32(8)
  text('llama')
  list('tokenizer.ggml.tokens', 8, tokens, (i) => text(word(i)))
  list('tokenizer.ggml.token_type', 5, tokens, () => u32(1))
  list('tokenizer.ggml.merges', 8, merges, (i) => text(`${word(i)} ${word(i * 7)}`))
  for (let i = 0; i < tensors; i++) {
    text(`blk.${i}.ffn_down.weight`)
    u32(2)
    u64(8)
    u64(8)
    u32(0)
    u64(i * 256)
  }
  const header = Buffer.concat(pieces)
  const start = Math.ceil(header.length / 32) * 32
  writeFileSync(path, Buffer.concat([header, Buffer.alloc(start - header.length + tensors * 256)]))
  return header.length
}

/** Of typical lengths, a few of them not ASCII. */
function word(i) {
  const letters = ((i * 2654435761) % 2 ** 32).toString(36).slice(0, 2 + (i % 6))
  return `${i % 3 === 0 ? 'Ġ' : ''}${letters}`
}
