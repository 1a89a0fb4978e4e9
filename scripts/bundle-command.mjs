// Joins the compiled modules of the command into a few files: Node starts several hundred small modules in about 0.4 s, a bundle of them in
// 0.1 s. The library stays as the compiler wrote it. Packages that it depends on are not taken in, they are loaded from where npm put them;
// those that the command alone uses are taken in with their licences, which spares it to look for them (15 ms).
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
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

/**
 * Verbs and formats are loaded when they are called for. What at least this many of them share goes into one file that is always loaded:
 * with a smaller number that file grows, with a larger one there are too many small files, and each costs a millisecond.
 */
const sharers = 4

/** Reads `dist/cli` and writes `dist/command`. The file that worker threads run is a bundle of its own: it must not start the command. */
export async function bundleCommand(dist) {
  const modules = [
    ...(await bundle(dist, { main: join(dist, 'cli', 'main.js') }, true)),
    ...(await bundle(dist, { worker: join(dist, 'threads', 'node', 'worker.js') }, false)),
  ]
  const takenIn = new Set(modules.flatMap((id) => packageOf(id, dist) ?? []))
  writeFileSync(join(dist, 'command', 'licenses.txt'), [...takenIn].sort().map(licence).join('\n'))
}

/** The package that a module was taken from; undefined for our own. */
const packageOf = (id, dist) =>
  id.startsWith(dist) ? undefined : /node_modules[\\/]((?:@[^\\/]+[\\/])?[^\\/]+)/.exec(id)?.[1]

function licence(name) {
  const folder = join(root, 'node_modules', name)
  const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  return `This folder contains ${name} ${version}:\n\n${readFileSync(join(folder, 'LICENSE'), 'utf8')}`
}

/** The compiled modules that a module cannot start without, itself included. */
function neededBy(file, found = new Set()) {
  if (found.has(file)) return found
  found.add(file)
  const imports = readFileSync(file, 'utf8').matchAll(/^(?:import|export)\b[^'"=]*['"](\.[^'"]+\.js)['"]/gm)
  for (const [, path] of imports) neededBy(resolve(dirname(file), path), found)
  return found
}

/** The modules that are in the bundle now. */
async function bundle(dist, input, cleanDir) {
  // What parses the arguments and prints help goes into a file of its own, which needs no other.
  const start = neededBy(join(dist, 'cli', 'run.js'))
  const groups = [
    { name: 'start', test: (id) => start.has(id) || packageOf(id, dist) !== undefined, priority: 2 },
    { name: 'shared', minShareCount: sharers, priority: 1 },
  ]
  const { output } = await build({
    input,
    platform: 'node',
    checks: { ineffectiveDynamicImport: false },
    external: (id) => packages.some((name) => id === name || id.startsWith(`${name}/`)),
    output: {
      dir: join(dist, 'command'),
      format: 'esm',
      cleanDir,
      chunkFileNames: '[name]-[hash].js',
      minify,
      codeSplitting: { groups },
    },
  })
  return output.flatMap(({ moduleIds }) => moduleIds ?? [])
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) await bundleCommand(join(root, 'dist'))
