// Compiles each folder of assembly/ to a WebAssembly module and writes its bytes into a TypeScript file. The generated files are kept in the
// repository, so that building and using tare needs no compiler; a test compiles anew and compares.
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import asc from 'assemblyscript/asc'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')

/** One module per folder of assembly/: where its bytes go, and how many pages of 64 KiB its memory has. */
export const modules = {
  // One page for tables, two for values, one each for scales, sub-scales and codes: see src/kernels/wasm.ts.
  mcf: { file: 'src/kernels/mcf-bytes.ts', pages: 6 },
}

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

/** The bytes of a module. */
export async function compileKernels(name) {
  const pages = String(modules[name].pages)
  const memory = ['--initialMemory', pages, '--maximumMemory', pages]
  let binary
  const { error, stderr } = await asc.main(['index.ts', '--outFile', 'kernels.wasm', ...options, ...memory], {
    readFile: (file, base) => readSource(join(name, base, file)),
    writeFile: (_name, data) => {
      binary = data
    },
    listFiles: () => [],
  })
  if (error || !binary) throw new Error(`assembly/${name} does not compile\n${stderr}`, { cause: error })
  return binary
}

function readSource(name) {
  try {
    return readFileSync(join(root, 'assembly', name), 'utf8')
  } catch {
    return null
  }
}

export const generatedFile = (name) => join(root, modules[name].file)

export function generatedText(name, bytes) {
  const lines = Buffer.from(bytes)
    .toString('base64')
    .match(/.{1,110}/g)
    .map((line) => `  '${line}',`)
  return `// Written by scripts/build-kernels.mjs from assembly/${name}: do not edit.\nexport const wasmBase64 = [\n${lines.join('\n')}\n].join('')\n`
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  for (const name of Object.keys(modules)) {
    const bytes = await compileKernels(name)
    writeFileSync(generatedFile(name), generatedText(name, bytes))
    process.stdout.write(`${name}: ${bytes.byteLength} bytes of WebAssembly\n`)
  }
}
