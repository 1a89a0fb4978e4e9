// The rooms of src/ and the doors between them. A forbidden import or a cycle fails here.
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'

const root = join(dirname(fileURLToPath(import.meta.url)), '..', 'src')

const below: Record<string, readonly string[]> = {}
function room(name: string, ...mayImport: string[]): void {
  below[name] = [name, ...mayImport]
}
room('errors')
room('bytes', 'errors')
room('digest', 'errors', 'bytes', 'kernels')
room('wire', 'errors', 'bytes')
room('kernels', 'errors', 'bytes')
room('dtypes', 'errors', 'bytes', 'kernels')
room('threads', 'errors', 'bytes', 'digest')
room('model', 'errors', 'bytes', 'digest', 'wire', 'dtypes', 'kernels', 'threads')
room('payloads', ...below.model!)
room('content', ...below.model!, 'payloads')
room('writing', ...below.model!)
const ground = [...below.model!, 'payloads', 'content', 'writing']
room('remote', 'errors', 'bytes', 'digest')
room('formats', ...ground, 'embed') // a graph is a format's way of writing an encoder
room('transforms', ...ground)
room('stow', ...ground, 'formats', 'transforms')
room('packed', ...ground, 'transforms')
room('families', ...ground, 'transforms', 'packed')
room('trust', 'errors', 'bytes', 'digest', 'wire')
const verbs = [...ground, 'formats', 'transforms', 'stow', 'packed']
room('inspect', ...verbs)
room('windows', ...verbs, 'inspect')
room('picture', ...verbs, 'inspect', 'windows')
for (const verb of ['convert', 'diff']) room(verb, ...verbs, 'inspect', 'families') // digests and previews serve the others
room('verify', ...verbs, 'inspect', 'convert', 'diff') // receipts of convert are checked by what diff finds
room('edit', ...verbs, 'inspect', 'convert') // an edit is a conversion into the same format, made smaller
room('delta', ...verbs) // what two models differ in, bit by bit
room('tokenize', ...ground, 'transforms', 'families') // tokenizers of model directories come from there
room('embed', ...ground, 'transforms', 'tokenize')
room('threads/worker-jobs.ts', ...verbs, 'inspect', 'diff', 'convert') // what threads do comes from the rooms above them
room('threads/web', 'threads', 'threads/worker-jobs.ts', ...ground)
room('threads/node', 'threads', 'threads/worker-jobs.ts', ...ground, 'node')
room(
  'all-codes.ts',
  ...verbs,
  'families',
  'tokenize',
  'embed',
  'verify',
  'convert',
  'inspect',
  'diff',
  'pack',
  'remote',
  'edit',
  'trust',
  'jobs',
  'delta',
)
room('pack', ...verbs, 'convert')
const api = [...verbs, 'inspect', 'convert', 'diff', 'delta', 'verify', 'pack', 'remote', 'all-codes.ts']
room('api', ...api) // the calls everybody starts with
room('jobs', ...verbs, 'inspect', 'convert') // a conversion that many machines carry out
room(
  'index.ts',
  'api',
  ...verbs,
  'families',
  'threads/web',
  'tokenize',
  'embed',
  'verify',
  'convert',
  'inspect',
  'diff',
  'pack',
  'remote',
  'edit',
  'windows',
  'picture',
  'trust',
  'delta',
  'all-codes.ts',
)
room('kit.ts', ...below['index.ts']!)
room(
  'node',
  ...verbs,
  'inspect',
  'convert',
  'jobs',
  'trust',
  'delta',
  'threads/node',
  'threads/worker-jobs.ts', // what threads do, workers of a queue do, too
  'embed',
  'pack',
  'remote',
  'edit',
  'api',
  'index.ts',
)
room('node.ts', 'index.ts', 'node', 'threads/node', ...verbs)
room('kit-node.ts', 'kit.ts', 'node', 'errors')
room('cli', 'node.ts', 'kit.ts', 'kit-node.ts')

const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.ts'))
const imports = new Map(files.map((file) => [file, importsOf(file)]))

function importsOf(file: string): string[] {
  const text = readFileSync(join(root, file), 'utf8')
  return [...text.matchAll(/(?:from|import\()\s*'([^']+)'/g)].map((match) => match[1]!)
}

const roomOf = (file: string): string => {
  const [first, second] = file.split(/[/\\]/)
  const inner = `${first}/${second}`
  return Object.hasOwn(below, inner) ? inner : first!
}

function localTarget(file: string, specifier: string): string | undefined {
  if (!specifier.startsWith('.')) return undefined
  return relative(root, resolve(root, dirname(file), specifier.replace(/\.js$/, '.ts')))
}

/** What a file cannot start without, itself included. */
function neededBy(file: string, found = new Set<string>()): Set<string> {
  if (found.has(file)) return found
  found.add(file)
  const text = readFileSync(join(root, file), 'utf8')
  for (const [, names, specifier] of text.matchAll(/^(?:import|export) ([^'"=;]*?)\s?from '(\.[^']+)'/gm)) {
    const isType = /^type /.test(names!) || /^\{(?:\s*type \w+(?: as \w+)?,?)+\s*\}$/.test(names!)
    if (!isType) neededBy(localTarget(file, specifier!)!, found)
  }
  return found
}

describe('what is loaded', () => {
  it('the list of formats needs nothing that reads, checks or writes files', () => {
    const needed = [...neededBy(join('formats', 'list.ts'))]
    expect(needed).toContain(join('formats', 'aero', 'index.ts'))
    const does = /^formats[/\\].*[/\\](work|read|check|layout|repair|salvage)\.ts$/
    expect(needed.filter((file) => does.test(file))).toEqual([])
  })

  it('help needs no format', () => {
    const needed = [...neededBy(join('cli', 'run.ts'))]
    expect(needed).toContain(join('cli', 'verbs', 'index.ts'))
    expect(needed.filter((file) => roomOf(file) !== 'cli')).toEqual([])
  })
})

describe('imports', () => {
  it.each(files)('%s stays within its rooms', (file) => {
    const allowed = below[roomOf(file)]
    expect(allowed, `no rule for ${roomOf(file)}`).toBeDefined()
    for (const specifier of imports.get(file)!) {
      const target = localTarget(file, specifier)
      if (target === undefined) continue
      expect(allowed, `${file} imports ${target}`).toContain(roomOf(target))
    }
  })

  it('no format imports another', () => {
    for (const [file, specifiers] of imports) {
      const own = /^formats[/\\]([^/\\]+)[/\\]/.exec(file)?.[1]
      if (own === undefined) continue
      for (const specifier of specifiers) {
        const other = /^formats[/\\]([^/\\]+)/.exec(localTarget(file, specifier) ?? '')?.[1]
        if (other !== undefined) expect(other, `${file} imports ${specifier}`).toBe(own)
      }
    }
  })

  it('only node and cli import from Node', () => {
    for (const [file, specifiers] of imports) {
      if (['node', 'node.ts', 'kit-node.ts', 'threads/node', 'cli'].includes(roomOf(file))) continue
      for (const specifier of specifiers) expect(specifier, file).not.toMatch(/^node:/)
      const code = readFileSync(join(root, file), 'utf8').replace(/\/\*[\s\S]*?\*\/|\/\/.*$|'(?:[^'\\]|\\.)*'/gm, '')
      expect(code, file).not.toMatch(/\bBuffer\b|\bprocess\./)
    }
  })

  it('has no cycles', () => {
    const done = new Set<string>()
    const visit = (file: string, trail: readonly string[]): void => {
      if (done.has(file)) return
      expect(trail, `cycle: ${[...trail, file].join(' -> ')}`).not.toContain(file)
      for (const specifier of imports.get(file) ?? []) {
        const target = localTarget(file, specifier)
        if (target !== undefined && imports.has(target)) visit(target, [...trail, file])
      }
      done.add(file)
    }
    for (const file of files) visit(file, [])
  })

  it('no format id is named outside its folder', () => {
    const ids = readdirSync(join(root, 'formats'), { withFileTypes: true }).filter((entry) => entry.isDirectory())
    for (const [file] of imports) {
      if (file.startsWith('formats')) continue
      // In what torch.save writes, `torch` is the Python module that pickles name.
      if (file.startsWith('content/torch-save')) continue
      // A table of codes may be called after the file type that it is about, and examples in comments convert to something.
      const text = readFileSync(join(root, file), 'utf8')
        .replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '')
        .replaceAll(/defineCodes\('\w+'/g, '')
      for (const { name } of ids) expect(text.includes(`'${name}'`), `${file} names ${name}`).toBe(false)
    }
  })
})
