import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { closeSync, createReadStream, existsSync, mkdirSync, openSync, writeFileSync, writeSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { clearPlace, cli, MiB, remove, size as sizeText, tare } from '../harness/harness.mjs'
import { row, skipped } from '../harness/rows.mjs'

export const topic = 'Converting'
export const about =
  "a model directory to GGUF against llama.cpp's own converter, processor time on one thread; LLAMA_CPP is a checkout of it, PYTHON an interpreter with its packages"

export default async function* llamaCpp({ file, pick }) {
  const converter = join(resolve(process.env.LLAMA_CPP ?? ''), 'convert_hf_to_gguf.py')
  if (!process.env.LLAMA_CPP || !existsSync(converter)) {
    yield skipped('convert a Llama directory to GGUF', "llama.cpp's converter", 'LLAMA_CPP is not set')
    return
  }
  const directory = file('Bench-Llama')
  const bytes = writeModel(directory, pick(22, 1))
  const [ours, theirs] = [file('tare.gguf'), file('llama.gguf')]
  for (const type of ['bf16', 'f16', 'q8_0']) {
    clearPlace(theirs, bytes)
    const python = [converter, directory, '--outfile', theirs, '--outtype', type]
    const yardstick = processorTime(process.env.PYTHON ?? 'python3', python)
    const args = ['convert', directory, '-o', ours, '--cast', type, '--threads', '1']
    clearPlace(ours, bytes)
    const own = processorTime(process.execPath, [cli, ...args, '--quiet'])
    remove(ours)
    const { memory } = await tare(args)
    if ((await digestOf(ours)) !== (await digestOf(theirs))) throw new Error(`the files of type ${type} differ`)
    const copy = file('copy.gguf')
    const flush = processorTime('sh', ['-c', 'cp "$0" "$1" && sync "$1"', ours, copy])
    remove(copy, ours, theirs)
    const work = `convert ${sizeText(bytes)}, Llama in bf16 → GGUF in ${type}, processor time (cp + sync ${flush.toFixed(1)} s)`
    yield row(work, { tare: own, yardstick, memory }, { against: "llama.cpp's converter", goal: 5, bytes })
  }
}

async function digestOf(path) {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(path)) hash.update(chunk)
  return hash.digest('hex')
}

/** User and system time of a command and all that it starts. */
function processorTime(command, args) {
  const env = { ...process.env, OMP_NUM_THREADS: '1', HF_HUB_OFFLINE: '1' }
  const script = '"$@" > /dev/null 2>&1 || exit 1; times'
  const { status, stdout } = spawnSync('sh', ['-c', script, 'sh', command, ...args], { encoding: 'utf8', env })
  if (status !== 0) throw new Error(`${command} ${args[0]}: it failed`)
  // The second line is of the shell's children: minutes and seconds, user and system.
  const times = [...stdout.split('\n')[1].matchAll(/(\d+)m([\d.]+)s/g)]
  return times.reduce((sum, [, minutes, seconds]) => sum + Number(minutes) * 60 + Number(seconds), 0)
}

const [width, inner, vocabulary] = [2048, 5632, 16_000]

function writeModel(directory, layers) {
  mkdirSync(directory)
  const settings = { hidden_size: width, intermediate_size: inner, num_attention_heads: 16, num_key_value_heads: 8 }
  const config = {
    ...{ architectures: ['LlamaForCausalLM'], model_type: 'llama', vocab_size: vocabulary, num_hidden_layers: layers },
    ...{ ...settings, max_position_embeddings: 2048, rms_norm_eps: 1e-5, rope_theta: 10_000 },
  }
  writeFileSync(join(directory, 'config.json'), JSON.stringify(config))
  writeFileSync(join(directory, 'tokenizer.model'), tokenizer())
  return writeWeights(join(directory, 'model.safetensors'), layers)
}

function writeWeights(path, layers) {
  const shapes = [
    ['model.embed_tokens', [vocabulary, width]],
    ['model.norm', [width]],
    ['lm_head', [vocabulary, width]],
    ...Array.from({ length: layers }, (_, n) => layerShapes(`model.layers.${n}`)).flat(),
  ]
  let end = 0
  const entries = shapes.map(([name, shape]) => {
    const start = end
    end += shape.reduce((product, each) => product * each, 2)
    return [`${name}.weight`, { dtype: 'BF16', shape, data_offsets: [start, end] }]
  })
  const header = Buffer.from(JSON.stringify(Object.fromEntries(entries)))
  const length = Buffer.alloc(8)
  length.writeBigUInt64LE(BigInt(header.length))
  const piece = sample()
  const file = openSync(path, 'w')
  writeSync(file, Buffer.concat([length, header]))
  for (let left = end; left > 0; left -= piece.length) writeSync(file, piece.subarray(0, Math.min(left, piece.length)))
  closeSync(file)
  return end
}

const layerShapes = (layer) => [
  [`${layer}.input_layernorm`, [width]],
  [`${layer}.post_attention_layernorm`, [width]],
  ...['q_proj', 'o_proj'].map((name) => [`${layer}.self_attn.${name}`, [width, width]]),
  ...['k_proj', 'v_proj'].map((name) => [`${layer}.self_attn.${name}`, [width / 2, width]]),
  ...['gate_proj', 'up_proj'].map((name) => [`${layer}.mlp.${name}`, [inner, width]]),
  [`${layer}.mlp.down_proj`, [width, inner]],
]

/** Numbers of a common size in bf16. */
function sample() {
  const values = new Uint16Array((4 * MiB) / 2)
  const float = new Float32Array(1)
  const bits = new Uint32Array(float.buffer)
  for (let i = 0; i < values.length; i++) {
    float[0] = ((Math.imul(i, 2_654_435_761) >>> 8) / 2 ** 24 - 0.5) * 0.1
    values[i] = bits[0] >>> 16
  }
  return Buffer.from(values.buffer)
}

/** A SentencePiece model of four pieces. */
function tokenizer() {
  const field = (number, body) => [(number << 3) | 2, body.length, ...body]
  const piece = (text, type) => field(1, [...field(1, [...Buffer.from(text)]), (2 << 3) | 5, 0, 0, 0, 0, 3 << 3, type])
  return Uint8Array.from([...piece('<unk>', 2), ...piece('<s>', 3), ...piece('</s>', 3), ...piece('a', 1)])
}
