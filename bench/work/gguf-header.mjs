// Opens a GGUF file with a large vocabulary: `PATH HEADER gguf|hyllama|read`, against one of its peers or against reading the bytes.
import { closeSync, openSync, readSync } from 'node:fs'
import { closeModel, openInput, openModel } from '../../dist/kit-node.js'
import { answer, race } from '../harness/measure.mjs'

const [path, headerText, against] = process.argv.slice(2)
const header = Number(headerText)

const open = async () => {
  const model = await openModel(await openInput(path))
  if (model.metadata.get('tokenizer.ggml.tokens').length < 1000) throw new Error('tokens are missing')
  if (model.tensors.length === 0) throw new Error('tensors are missing')
  await closeModel(model)
}

function readHeader() {
  const buffer = new Uint8Array(header)
  const file = openSync(path)
  readSync(file, buffer, 0, header, 0)
  closeSync(file)
  return buffer.buffer
}

const yardsticks = {
  read: readHeader,
  gguf: async () => (await import('@huggingface/gguf')).gguf(path, { allowLocalFile: true }),
  hyllama: async () => (await import('hyllama')).ggufMetadata(readHeader()),
}
answer(await race(open, yardsticks[against], against === 'read' ? 15 : 5))
