// Compiles each folder of assembly/ to a WebAssembly module and writes its bytes into src/kernels/. The generated files are kept in the
// repository, so that building and using tare needs no compiler; a test compiles again and compares.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import asc from 'assemblyscript/asc'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const mapText = readFileSync(join(root, 'src', 'kernels', 'memory-map.ts'), 'utf8')
const { numbersMap, ggmlMap, latticeMap, mcfMap, digestsMap } = await import(
  `data:text/javascript;base64,${Buffer.from(mapText).toString('base64')}`
)

/** The memory map of each folder of assembly/. A module whose map has no `pages` works in the arena that windows lie in (src/bytes/window.ts). */
export const modules = { mcf: mcfMap, numbers: numbersMap, ggml: { ...ggmlMap, ...latticeMap }, digests: digestsMap }

/** The arena may have any size that holds the memory of the kernels. */
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
  const [initial, maximum] = pages ? [pages, pages] : arenaPages
  const memory = ['--initialMemory', String(initial), '--maximumMemory', String(maximum)]
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

/**
 * A source file. `memory-map.ts` is made from the map of the module, and a file that is too regular to be written by hand is the default
 * export of a script: x.ts.mjs stands for x.ts.
 */
async function readSource(name) {
  if (basename(name) === 'memory-map.ts') return addressConstants(modules[dirname(name)])
  const file = join(root, 'assembly', name)
  if (existsSync(file)) return readFileSync(file, 'utf8')
  return existsSync(`${file}.mjs`) ? (await import(pathToFileURL(`${file}.mjs`).href)).default : null
}

const addressConstants = ({ pages, ...addresses }) =>
  Object.entries(addresses)
    .map(([name, address]) => `export const ${name}: usize = ${address}\n`)
    .join('')

export const generatedFile = (name) => join(root, 'src', 'kernels', name, 'wasm-bytes.ts')

export function generatedText(name, bytes) {
  const lines = Buffer.from(bytes)
    .toString('base64')
    .match(/.{1,110}/g)
    .map((line) => `    '${line}',`)
  return `// Written by scripts/build-kernels.mjs from assembly/${name}: do not edit.\nexport const wasmBase64 = (): string =>\n  [\n${lines.join('\n')}\n  ].join('')\n`
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  for (const name of Object.keys(modules)) {
    const bytes = await compileKernels(name)
    writeFileSync(generatedFile(name), generatedText(name, bytes))
    process.stdout.write(`${name}: ${bytes.byteLength} bytes of WebAssembly\n`)
  }
}
