// node hub-to-gguf.mjs DIRECTORY OUTPUT.gguf: a model directory as the file that llama.cpp runs, with its tokenizer.
import { convert } from 'tare/node'

const { plan, files } = await convert(process.argv[2], process.argv[3], { cast: 'f16' })
console.log(files[0].name, files[0].size, plan.loss)
