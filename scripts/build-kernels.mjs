// Compiles each folder of assembly/ to a WebAssembly module and writes its bytes into a TypeScript file. The generated files are kept in the
// repository, so that building and using tare needs no compiler; a test compiles anew and compares.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import asc from 'assemblyscript/asc'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')

/**
 * One module per folder of assembly/: where its bytes go, and how many pages of 64 KiB its memory has. A module without pages works in the
 * arena that windows lie in (src/bytes/window.ts).
 */
export const modules = {
  // One page for tables, two for values, one each for scales, sub-scales and codes: see src/kernels/wasm.ts.
  mcf: { file: 'src/kernels/mcf-bytes.ts', pages: 6 },
  numbers: { file: 'src/kernels/numbers-bytes.ts' },
  ggml: { file: 'src/dtypes/ggml/wasm-bytes.ts' },
  // One page for scratch and tables, one for what is hashed, one that spare lanes may reach into.
  digests: { file: 'src/digest/digests-bytes.ts', pages: 3 },
}

/** The arena may have any size that holds the room of the kernels. */
const arenaPages = [32, 65_536]

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
  const { pages } = modules[name]
  const [least, most] = pages ? [pages, pages] : arenaPages
  const memory = ['--initialMemory', String(least), '--maximumMemory', String(most)]
  if (!pages) memory.push('--importMemory')
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

/** A file that is too regular to be written by hand is the default export of a module: x.ts.mjs stands for x.ts. */
async function readSource(name) {
  const file = join(root, 'assembly', name)
  if (existsSync(file)) return readFileSync(file, 'utf8')
  return existsSync(`${file}.mjs`) ? (await import(pathToFileURL(`${file}.mjs`).href)).default : null
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
