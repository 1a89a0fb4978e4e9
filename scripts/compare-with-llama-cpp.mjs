// Converts model directories with tare and with llama.cpp's own converter, and compares the files byte for byte.
//
//   LLAMA_CPP=~/llama.cpp node scripts/compare-with-llama-cpp.mjs [--types f16,q8_0] DIR...
//
// LLAMA_CPP is a checkout whose Python packages are installed (requirements/requirements-convert_hf_to_gguf.txt); PYTHON is the interpreter
// that has them, python3 by default. Exits with 1 when files differ.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { createReadStream, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const { values, positionals } = parseArgs({
  options: { types: { type: 'string', default: 'auto,f32,f16,bf16,q8_0' } },
  allowPositionals: true,
})
const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const converter = join(resolve(process.env.LLAMA_CPP ?? ''), 'convert_hf_to_gguf.py')
if (!process.env.LLAMA_CPP || !existsSync(converter) || positionals.length === 0) {
  console.error('usage: LLAMA_CPP=CHECKOUT node scripts/compare-with-llama-cpp.mjs [--types f16,q8_0] DIR...')
  process.exit(2)
}

function run(command, args) {
  const started = performance.now()
  const { status, stderr } = spawnSync(command, args, { encoding: 'utf8' })
  const seconds = (performance.now() - started) / 1000
  return status === 0 ? { seconds } : { seconds, error: stderr.trim().split('\n').at(-1) }
}

async function digest(file) {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(file)) hash.update(chunk)
  return hash.digest('hex')
}

const folder = mkdtempSync(join(tmpdir(), 'tare-llama-cpp-'))
let differences = 0
try {
  for (const directory of positionals) {
    for (const type of values.types.split(',')) {
      const [ours, theirs] = [join(folder, 'tare.gguf'), join(folder, 'llama.gguf')]
      const cast = type === 'auto' ? [] : ['--cast', type]
      const tare = run(process.execPath, [
        join(root, 'dist', 'bundle', 'main.js'),
        'convert',
        directory,
        '-o',
        ours,
        ...cast,
      ])
      const llama = run(process.env.PYTHON ?? 'python3', [converter, directory, '--outfile', theirs, '--outtype', type])
      const isSame = !tare.error && !llama.error && (await digest(ours)) === (await digest(theirs))
      const isRefused = tare.error && llama.error
      if (!isSame && !isRefused) differences++
      const verdict = isSame ? 'same' : isRefused ? 'both refuse' : 'DIFFERENT'
      const times = `tare ${tare.seconds.toFixed(1)} s, llama.cpp ${llama.seconds.toFixed(1)} s`
      const errors = [tare.error && `tare: ${tare.error}`, llama.error && `llama.cpp: ${llama.error}`].filter(Boolean)
      console.log([`${verdict}  ${directory} ${type}  ${times}`, ...errors].join('\n  '))
      for (const file of [ours, theirs]) rmSync(file, { force: true })
    }
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}
process.exit(differences > 0 ? 1 : 0)
