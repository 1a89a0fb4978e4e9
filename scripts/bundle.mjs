// Joins the compiled modules into a few files, for Node: it takes 0.3 s to load several hundred small modules, and 0.05 s to load the same
// code from twenty files. The entries of the library share these files, so that there is one copy of everything. The command has files of
// its own: the entries need nearly all of the library, and a verb does not. The modules stay beside them for bundlers, which leave out what an
// application does not use.
//
// Packages that the library depends on are loaded from where npm put them; those that the command alone uses are taken in with their
// licences, which saves it looking for them (15 ms).
import { readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
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

/**
 * Less text is read sooner. The names of functions stay, so that a stack trace says where it was, and so do lines: Node prints the line that
 * threw an uncaught error.
 */
const minify = { compress: true, mangle: { toplevel: false }, codegen: { removeWhitespace: false } }

/**
 * Verbs and formats are loaded when they are called for. Modules that at least this many of them share go into one file that is always
 * loaded: with a smaller number that file grows, with a larger one there are too many small files, and each costs a millisecond.
 */
const sharers = 8

/**
 * Reads the compiled modules in a folder and writes its subfolder `bundle`. The command, the library and the worker thread share no file, so
 * that each loads only what it needs.
 */
export async function bundle(folder) {
  const dist = realpathSync(folder) // as the bundler names modules
  const at = (...names) => join(dist, ...names)
  const command = { main: at('cli', 'main.js') }
  const library = {
    index: passOn + at('index.js'),
    node: passOn + at('node.js'),
    kit: passOn + at('kit.js'),
    tokenize: passOn + at('tokenize', 'index.js'),
  }
  const threads = { worker: at('threads', 'node', 'worker.js') }
  const modules = [
    await write(dist, command, true),
    await write(dist, library, false),
    await write(dist, threads, false),
  ]
  const takenIn = new Set(modules.flat().flatMap((id) => packageOf(id, dist) ?? []))
  writeFileSync(join(dist, 'bundle', 'licenses.txt'), [...takenIn].sort().map(licence).join('\n'))
}

/** The package that a module was taken from; undefined for our own. */
const packageOf = (id, dist) =>
  id.includes(dist) ? undefined : /node_modules[\\/]((?:@[^\\/]+[\\/])?[^\\/]+)/.exec(id)?.[1]

function licence(name) {
  const folder = join(root, 'node_modules', name)
  const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each))
  return `This folder contains ${name} ${version}:\n\n${readFileSync(join(folder, file), 'utf8')}`
}

/** The compiled modules that a module cannot start without, itself included. */
function neededBy(file, found = new Set()) {
  if (found.has(file)) return found
  found.add(file)
  const imports = readFileSync(file, 'utf8').matchAll(/^(?:import|export) (?:[^'"=;]* from )?['"](\.[^'"]+\.js)['"]/gm)
  for (const [, path] of imports) neededBy(resolve(dirname(file), path), found)
  return found
}

/**
 * An entry that exports what a module of the library exports. Were the module the entry, it would need everything that it exports, and so
 * would every verb that imports a few names from it.
 */
const passOn = '\0entry:'
const passOnPlugin = {
  name: 'pass-on',
  resolveId: (id) => (id.startsWith(passOn) ? id : undefined),
  load: (id) => (id.startsWith(passOn) ? `export * from ${JSON.stringify(id.slice(passOn.length))}` : undefined),
}

/** The modules that are in the files now. */
async function write(dist, input, cleanDir) {
  const commandFolder = join(dist, 'cli')
  // What parses the arguments and prints help goes into a file of its own, which needs no other.
  const start = neededBy(join(commandFolder, 'run.js'))
  const groups = [
    { name: 'start', test: (id) => start.has(id) || packageOf(id, dist) !== undefined, priority: 2 },
    { name: 'shared', test: (id) => !id.startsWith(commandFolder), minShareCount: sharers, priority: 1 },
  ]
  const { output } = await build({
    input,
    plugins: [passOnPlugin],
    platform: 'node',
    checks: { ineffectiveDynamicImport: false },
    external: (id) => packages.some((name) => id === name || id.startsWith(`${name}/`)),
    output: {
      dir: join(dist, 'bundle'),
      format: 'esm',
      cleanDir,
      chunkFileNames: '[name]-[hash].js',
      minify,
      codeSplitting: { groups },
    },
  })
  return output.flatMap(({ moduleIds }) => moduleIds ?? [])
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) await bundle(join(root, 'dist'))
