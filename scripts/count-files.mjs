// Counts the source files that a run of the command works in:
//
//   node scripts/count-files.mjs inspect model.safetensors
//   node scripts/count-files.mjs --tree ../other-checkout convert in.aero -o out.gguf --cast f16
//
// `src` is compiled into a temporary folder, and every function there reports its file when it runs. Not counted are functions that run
// while a module is loaded, the detection of formats that do nothing else, and worker threads. A folder change is a file that is
// entered for the first time right after one of another folder. `--no-arrows` counts declared functions and methods alone, so that a
// file in which only callbacks and one-line helpers ran does not count.
import { execFileSync, spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseSync, Visitor } from 'rolldown/utils'

const args = process.argv.slice(2)
const tree = args[0] === '--tree' ? resolve(args.splice(0, 2)[1]) : resolve(fileURLToPath(import.meta.url), '../..')
const noArrows = args[0] === '--no-arrows'
if (noArrows) args.shift()
if (args.length === 0) throw new Error('usage: node scripts/count-files.mjs [--tree CHECKOUT] [--no-arrows] VERB ...')

const entry = 'cli/main.js'
/** The folder of a format that a file belongs to. */
const formatOf = (file) => /^formats\/([^/]+)\//.exec(file)?.[1]

/** What every function calls. Keeps the files in the order of their first call, each with the formats that were detecting, '' for none. */
const recorder = `
import { writeFileSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'
const files = new Map()
globalThis.__reached = {
  loading: 0,
  detecting: '',
  enter(file) {
    if (this.loading > 0) return
    if (!files.has(file)) files.set(file, new Set())
    files.get(file).add(this.detecting)
  },
}
const report = () => JSON.stringify([...files].map(([file, detecting]) => [file, [...detecting]]))
if (isMainThread) process.on('exit', () => writeFileSync(process.env.REACHED_FILES, report()))
`

/** The text of a compiled module with the calls put in. */
function instrument(text, file) {
  const insertions = []
  const around = ({ start, end }, before, after) => insertions.push([start, before], [end, after])
  const report = `__reached.enter(${JSON.stringify(file)})`
  const names = new Map()

  function putInto(node) {
    const { body } = node
    if (!body) return
    const inner = node.expression ? body : { start: body.start + 1, end: body.end - 1 }
    if (names.get(node) === 'detect' && formatOf(file)) {
      const before = `__reached.detecting='${formatOf(file)}';try{${report};`
      const after = "}finally{__reached.detecting=''}"
      if (node.expression) around(inner, `{${before}return `, `${after}}`)
      else around(inner, before, after)
    } else if (node.type === 'ArrowFunctionExpression' && noArrows) return
    else if (node.expression) around(inner, `(${report},`, ')')
    else around(inner, `${report};`, '')
  }
  const { program, errors } = parseSync(file, text)
  if (errors.length > 0) throw new Error(`${file}: ${errors[0].message}`)
  new Visitor({
    Property: ({ key, value }) => names.set(value, key.name),
    FunctionDeclaration(node) {
      names.set(node, node.id?.name)
      putInto(node)
    },
    FunctionExpression: putInto,
    ArrowFunctionExpression: putInto,
  }).visit(program)
  // The entry waits for the command to end while it is loaded itself.
  if (file !== entry) around({ start: 0, end: text.length }, '__reached.loading++;', ';__reached.loading--;')

  let result = ''
  let at = 0
  for (const [offset, what] of insertions.sort(([a], [b]) => a - b)) {
    result += text.slice(at, offset) + what
    at = offset
  }
  return result + text.slice(at)
}

/** Runs the command; the files that it reached, with the formats that were detecting. */
function run(folder) {
  const out = join(folder, 'dist')
  execFileSync(join(tree, 'node_modules/.bin/tsc'), ['-p', join(tree, 'tsconfig.build.json'), '--outDir', out])
  for (const name of readdirSync(out, { recursive: true, encoding: 'utf8' })) {
    const path = join(out, name)
    if (name.endsWith('.js')) writeFileSync(path, instrument(readFileSync(path, 'utf8'), name.replaceAll('\\', '/')))
  }
  cpSync(join(tree, 'package.json'), join(folder, 'package.json'))
  symlinkSync(join(tree, 'node_modules'), join(folder, 'node_modules'), 'junction')
  writeFileSync(join(folder, 'recorder.mjs'), recorder)
  const report = join(folder, 'files.json')
  const options = { stdio: ['inherit', 'ignore', 'inherit'], env: { ...process.env, REACHED_FILES: report } }
  const { status } = spawnSync(
    process.execPath,
    ['--import', join(folder, 'recorder.mjs'), join(out, entry), ...args],
    options,
  )
  if (status !== 0) console.error(`the command ended with status ${status}`)
  return JSON.parse(readFileSync(report, 'utf8'))
}

const folder = mkdtempSync(join(tmpdir(), 'count-files-'))
try {
  const reached = run(folder)
  const working = new Set(
    reached.flatMap(([file, detecting]) => (detecting.includes('') ? (formatOf(file) ?? []) : [])),
  )
  const files = reached
    .filter(([, detecting]) => detecting.some((format) => format === '' || working.has(format)))
    .map(([file]) => file)
  const byFolder = new Map()
  for (const file of files) byFolder.set(dirname(file), [...(byFolder.get(dirname(file)) ?? []), file])
  for (const [name, inside] of [...byFolder].sort(([a], [b]) => (a < b ? -1 : 1)))
    console.log(
      `${name} (${inside.length}): ${inside
        .map((file) => file.slice(name.length + 1))
        .sort()
        .join(' ')}`,
    )
  const changes = files.filter((file, index) => index > 0 && dirname(file) !== dirname(files[index - 1])).length
  console.log(`\n${files.length} files in ${byFolder.size} folders, ${changes} folder changes`)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
