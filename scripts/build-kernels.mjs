// Compiles assembly/ to WebAssembly and writes the bytes into src/kernels/wasm-bytes.ts. The generated file is kept in the repository, so that
// building and using tare needs no compiler; a test compiles anew and compares.
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import asc from 'assemblyscript/asc'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
export const generatedFile = join(root, 'src', 'kernels', 'wasm-bytes.ts')

const options = [
  '-O3',
  '--converge',
  '--noAssert',
  '--runtime',
  'stub',
  '--enable',
  'simd',
  '--disableWarning',
  'AS112',
]
// One page for tables, two for values, one each for scales, sub-scales and codes: see src/kernels/wasm.ts.
const memory = ['--initialMemory', '6', '--maximumMemory', '6']

/** The module's bytes. */
export async function compileKernels() {
  let binary
  const { error, stderr } = await asc.main(['index.ts', '--outFile', 'kernels.wasm', ...options, ...memory], {
    readFile: (name, base) => readSource(join(base, name)),
    writeFile: (_name, data) => {
      binary = data
    },
    listFiles: () => [],
  })
  if (error || !binary) throw new Error(`the kernels do not compile\n${stderr}`, { cause: error })
  return binary
}

function readSource(name) {
  try {
    return readFileSync(join(root, 'assembly', name), 'utf8')
  } catch {
    return null
  }
}

export function generatedText(bytes) {
  const lines = Buffer.from(bytes)
    .toString('base64')
    .match(/.{1,110}/g)
    .map((line) => `  '${line}',`)
  return `// Written by scripts/build-kernels.mjs from assembly/: do not edit.\nexport const wasmBase64 = [\n${lines.join('\n')}\n].join('')\n`
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  const bytes = await compileKernels()
  writeFileSync(generatedFile, generatedText(bytes))
  process.stdout.write(`${bytes.byteLength} bytes of WebAssembly\n`)
}
