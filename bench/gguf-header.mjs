// Opens a GGUF file with a large vocabulary. Prints JSON; without the peer, its time is null.
import { closeSync, openSync, readSync } from 'node:fs'
import { closeModel, openInput, openModel } from '../dist/node.js'
import { peakMemory, race } from './harness.mjs'

const [path, headerText, against] = process.argv.slice(2)
const header = Number(headerText)

const open = async () => {
  const model = await openModel(await openInput(path))
  if (model.metadata.get('tokenizer.ggml.tokens').length < 1000) throw new Error('tokens are missing')
  if (model.tensors.length === 0) throw new Error('tensors are missing')
  await closeModel(model)
}
const buffer = new Uint8Array(header)
const read = async () => {
  const file = openSync(path)
  readSync(file, buffer, 0, header, 0)
  closeSync(file)
}

if (against === 'read') print(await race(open, read, 15))
else {
  const gguf = await peer()
  if (gguf) print(await race(open, () => gguf(path, { allowLocalFile: true }), 5))
  else print({ ...(await race(open, async () => {}, 15)), yardstick: null })
}

function print(times) {
  process.stdout.write(`${JSON.stringify({ ...times, bytes: header, memory: peakMemory() })}\n`)
}

async function peer() {
  try {
    return (await import('@huggingface/gguf')).gguf
  } catch (error) {
    if (error.code === 'ERR_MODULE_NOT_FOUND') return undefined
    throw error
  }
}
