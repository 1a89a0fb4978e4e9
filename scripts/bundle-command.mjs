// Joins the compiled modules of the command into a few files: Node starts several hundred small modules in about 0.4 s, a bundle of them in
// 0.1 s. The library stays as the compiler wrote it. Packages that we depend on are not taken in, they are loaded from where npm put them.
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build } from 'rolldown'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const packages = Object.keys({
  ...manifest.dependencies,
  ...manifest.optionalDependencies,
  ...manifest.peerDependencies,
})

/** Comments and blanks are a third of what Node would have to read; names stay, so that a trace still says where it was. */
const minify = { compress: true, mangle: { toplevel: false }, codegen: { removeWhitespace: true } }

/** Reads `dist/cli` and writes `dist/command`. The file that worker threads run is a bundle of its own: it must not start the command. */
export async function bundleCommand(dist) {
  await bundle(dist, { main: join(dist, 'cli', 'main.js') }, true)
  await bundle(dist, { worker: join(dist, 'node', 'worker.js') }, false)
}

async function bundle(dist, input, cleanDir) {
  await build({
    input,
    platform: 'node',
    external: (id) => packages.some((name) => id === name || id.startsWith(`${name}/`)),
    output: { dir: join(dist, 'command'), format: 'esm', cleanDir, chunkFileNames: '[name]-[hash].js', minify },
  })
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) await bundleCommand(join(root, 'dist'))
