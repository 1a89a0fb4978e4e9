// What Node runs: the files that the build makes of the compiled modules.
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { beforeAll, describe, expect, it } from 'vitest'
import * as portable from '../src/index.js'
import * as kit from '../src/kit.js'
import * as node from '../src/node.js'
import * as tokenize from '../src/tokenize/index.js'
import { useCompiled } from './cli/compiled.js'
import { useTempDir } from './node/temp-dir.js'

const root = resolve(import.meta.dirname, '..')
const compiled = useCompiled()
const temp = useTempDir()

beforeAll(async () => {
  const { bundle } = await import(`${new URL('../scripts/bundle.mjs', import.meta.url)}`)
  await bundle(compiled())
})

/** For an import in code. */
const addressOf = (name: string): string => JSON.stringify(pathToFileURL(compiled(name)).href)

/** What a module prints as JSON in a process of its own. */
function evaluate(code: string) {
  const file = temp('program.mjs')
  writeFileSync(file, code)
  const { stdout, stderr } = spawnSync(process.execPath, [file], { encoding: 'utf8' })
  expect(stderr).toBe('')
  return JSON.parse(stdout)
}

describe('the command', () => {
  function tare(...args: string[]) {
    return spawnSync(process.execPath, [compiled('bundle/main.js'), ...args], { encoding: 'utf8', cwd: root })
  }

  it('carries the licences of what it takes in, and loads the rest from its packages', () => {
    const texts = readdirSync(compiled('bundle')).map((name) => readFileSync(compiled(join('bundle', name)), 'utf8'))
    const imported = texts.flatMap((text) => [...text.matchAll(/(?:from|import\(|import) ?["`]([a-z@][^"`:]*)["`]/g)])
    expect(imported.map(([, name]) => name)).toContain('yaml')
    expect(imported.map(([, name]) => name)).not.toContain('commander')
    expect(readFileSync(compiled('bundle/licenses.txt'), 'utf8')).toMatch(
      /commander.*Permission.*picocolors.*Permission/s,
    )
  })

  it('says its version', () => {
    expect(tare('--version').stdout).toMatch(/^\d+\.\d+\.\d+\n$/)
  })

  it('loads every verb', () => {
    const verbs = [...tare('--help').stdout.matchAll(/^ {2}([a-z]+) {2,}/gm)].map(([, verb]) => verb!)
    expect(verbs).toContain('convert')
    for (const verb of verbs) expect(tare(verb, '--help')).toMatchObject({ status: 0, stderr: '' })
  })

  it('packs a description in YAML, and converts and verifies what came out', () => {
    const packed = temp('m.oinf')
    const again = temp('m.safetensors')
    const example = readdirSync(join(root, 'examples')).find((name) => name.endsWith('.yaml'))!
    expect(tare('pack', join('examples', example), '-o', packed)).toMatchObject({ status: 0 })
    expect(tare('convert', packed, '-o', again, '--allow-loss')).toMatchObject({ status: 0 })
    expect(tare('verify', packed, again)).toMatchObject({ status: 0 })
  })
})

describe('the library', () => {
  it.each([
    ['index', portable],
    ['node', node],
    ['kit', kit],
    ['tokenize', tokenize],
  ])('%s exports what its module exports', (name, module) => {
    const code = `console.log(JSON.stringify(Object.keys(await import(${addressOf(`bundle/${name}.js`)}))))`
    expect(evaluate(code).sort()).toEqual(Object.keys(module).sort())
  })

  it('starts worker threads', () => {
    const code = `
      import { openPool } from ${addressOf('bundle/node.js')}
      const pool = openPool({ threads: 2 })
      const window = new Uint8Array(new SharedArrayBuffer(1024))
      const value = await pool.run({ kind: 'subtree', data: 0, window, file: 'a', offset: 0 })
      await pool.close()
      console.log(value.length)`
    expect(evaluate(code)).toBe(32)
  })
})

describe('what is loaded', () => {
  /** The files of the project that Node has loaded after an entry was imported, and those that it loads to open a file. */
  function loadedBy(entry: string): { atStart: string[]; forFile: string[] } {
    const file = join(root, 'fixtures/safetensors/dtypes-common.safetensors')
    const found = evaluate(`
      import { Session } from 'node:inspector'
      const session = new Session()
      session.connect()
      const files = []
      session.on('Debugger.scriptParsed', ({ params }) => files.push(params.url))
      session.post('Debugger.enable')
      const { openModel } = await import(${addressOf(entry)})
      const atStart = files.splice(0)
      await (await openModel(${JSON.stringify(file)})).close()
      console.log(JSON.stringify({ atStart, forFile: files }))
      process.exit()`)
    const own = (urls: string[]): string[] =>
      urls.filter((url) => url.startsWith('file:')).map((url) => url.slice(url.indexOf('/dist/') + '/dist/'.length))
    return { atStart: own(found.atStart), forFile: own(found.forFile) }
  }

  it('is a few files, not hundreds', () => {
    const { atStart, forFile } = loadedBy('bundle/node.js')
    expect(atStart).toContain('bundle/node.js')
    expect(atStart.length).toBeLessThan(30)
    expect(forFile.length).toBeLessThan(5)
  })

  it('what reads, checks and writes a format is loaded with the first file of it', () => {
    const { atStart, forFile } = loadedBy('node.js')
    const formats = readdirSync(compiled('formats'), { withFileTypes: true }).filter((entry) => entry.isDirectory())
    expect(formats.length).toBeGreaterThan(5)
    for (const { name } of formats) {
      const facts = readFileSync(compiled(`formats/${name}/index.js`), 'utf8')
      const loadedLater = [...facts.matchAll(/import\('(\.[^']+)'\)/g)].map(([, path]) => basename(path!))
      expect(loadedLater, name).not.toEqual([])
      for (const later of loadedLater) {
        expect(atStart).not.toContain(`formats/${name}/${later}`)
        if (name === 'safetensors') expect(forFile).toContain(`formats/${name}/${later}`)
      }
      if (name !== 'safetensors') expect(forFile.filter((file) => file.startsWith(`formats/${name}/`))).toEqual([])
    }
  })
})
