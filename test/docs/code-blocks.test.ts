// Every block of TypeScript or JavaScript in the README and in docs/ compiles as strict TypeScript against the package.
import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, it } from 'vitest'
import { usePackage } from './package.js'

const root = resolve(import.meta.dirname, '../..')
const folder = usePackage()

interface Block {
  readonly file: string
  readonly line: number
  readonly code: string
  /** What the text around the block takes for granted: `<!-- given: ... -->` above it. */
  readonly given: string
}

function blocksOf(file: string): Block[] {
  const text = readFileSync(join(root, file), 'utf8')
  const blocks = text.matchAll(/(?:<!-- (?:given: (.*?)|(src\/.*?)|.*?) -->\n)?```(?:ts|js|mjs)\n([\s\S]*?)```/g)
  // Files of src/ are built by the test of the page that shows them.
  return [...blocks].flatMap(([all, given = '', source, code], i) =>
    source === undefined
      ? [{ file, line: text.slice(0, text.indexOf(all)).split('\n').length, code: code!, given, i }]
      : [],
  )
}

const pages = [
  'README.md',
  ...readdirSync(join(root, 'docs')).flatMap((name) => (name.endsWith('.md') ? [`docs/${name}`] : [])),
]

it('compiles', () => {
  const blocks = pages.flatMap(blocksOf)
  expect(blocks.length).toBeGreaterThan(15)
  for (const { file, line, code, given } of blocks) {
    const name = `${file.replace(/\W+/g, '-')}-line-${line}.mts`
    writeFileSync(folder(name), `${given}\n${code}\nexport {}\n`)
  }
  writeFileSync(folder('types.d.ts'), "declare module 'onnxruntime-web'\n")
  const settings = {
    compilerOptions: {
      strict: true,
      noEmit: true,
      target: 'ESNext',
      module: 'NodeNext',
      lib: ['ESNext', 'DOM', 'DOM.Iterable'],
      types: ['node'],
      typeRoots: [join(root, 'node_modules/@types')],
    },
    include: ['*.mts', '*.d.ts'],
  }
  writeFileSync(folder('tsconfig.json'), JSON.stringify(settings))
  const compiler = join(root, 'node_modules/typescript/bin/tsc')
  const { stdout, status } = spawnSync(process.execPath, [compiler, '-p', folder('tsconfig.json')], {
    encoding: 'utf8',
  })
  expect(stdout).toBe('')
  expect(status).toBe(0)
})

it('does not compile typos', () => {
  writeFileSync(
    folder('typos.mts'),
    `import { convert, isTareError, openModel, readTensor } from 'tare/node'
    const model = await openModel('m', { from: 'ggufx' })
    await convert(model, 'm.gguf', { cast: 'f17' })
    await convert(model, 'm.gguf', { quantize: 'q4_kk' })
    await convert(model, undefined, {})
    const { data }: { data: Float64Array } = await readTensor(model, 'w', { as: 'f32' })
    isTareError(data, 'io/short-reed')\n`,
  )
  writeFileSync(folder('tsconfig.typos.json'), JSON.stringify({ extends: './tsconfig.json', include: ['typos.mts'] }))
  const compiler = join(root, 'node_modules/typescript/bin/tsc')
  const { stdout } = spawnSync(process.execPath, [compiler, '-p', folder('tsconfig.typos.json')], { encoding: 'utf8' })
  expect([...stdout.matchAll(/typos\.mts\((\d+),/g)].map(([, line]) => Number(line))).toEqual([2, 3, 4, 5, 6, 7])
})
