// What a page loads: the portable entry and the file of the workers, joined by a bundler as an application would do it, and beside them
// the code of these tests that runs in the page.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { type BuildOptions, build } from 'rolldown'

const root = resolve(import.meta.dirname, '../..')
const here = import.meta.dirname

export interface Bundles {
  /** `library`: nothing but the public entry and the file of the workers. `page`: what tests run in pages. `files`: empty yet. */
  readonly folder: string
  /** What the modules of the library import. */
  readonly imports: readonly string[]
  remove(): void
}

export async function makeBundles(): Promise<Bundles> {
  const folder = mkdtempSync(join(tmpdir(), 'tare-browser-'))
  mkdirSync(join(folder, 'files'))
  const imports = await bundle(join(folder, 'library'), {
    tare: join(root, 'src/index.ts'),
    'web-worker': join(root, 'src/threads/web/web-worker.ts'),
  })
  const pages = {
    page: join(here, 'page/index.ts'),
    'kernel-tests': join(here, 'page/kernel-tests.ts'),
    'web-worker': join(root, 'src/threads/web/web-worker.ts'),
    ...writeExamples(folder),
  }
  // The package says that its modules do nothing when they are loaded; tests do.
  await bundle(join(folder, 'page'), pages, { treeshake: { moduleSideEffects: () => true } })
  return { folder, imports, remove: () => rmSync(folder, { recursive: true, force: true }) }
}

async function bundle(dir: string, input: Record<string, string>, more: BuildOptions = {}): Promise<string[]> {
  const { output } = await build({
    input,
    platform: 'browser',
    ...more,
    cwd: root,
    resolve: {
      extensionAlias: { '.js': ['.ts', '.js'] },
      alias: {
        tare: join(root, 'src/index.ts'),
        vitest: join(here, 'page/vitest.ts'),
        'node:zlib': join(here, 'page/zlib.ts'),
        'fast-check': join(root, 'node_modules/fast-check'),
      },
    },
    // Takes files along that code refers to with `new URL('./name', import.meta.url)`.
    experimental: { resolveNewUrlToAsset: true },
    output: { dir, format: 'esm', entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js' },
    logLevel: 'silent',
  })
  return output.flatMap((each) => (each.type === 'chunk' ? [...each.imports, ...each.dynamicImports] : []))
}

/** Every block of docs/browser.md that starts with a name is a module of that name; so is every page of the cookbook. */
function writeExamples(folder: string): Record<string, string> {
  const text = readFileSync(join(root, 'docs/browser.md'), 'utf8')
  const input: Record<string, string> = {}
  for (const [, name, code] of text.matchAll(/```ts\n\/\/ ([a-z-]+)\.ts\n([\s\S]*?)```/g)) {
    const file = join(folder, `example-${name}.ts`)
    writeFileSync(file, code!)
    input[`example-${name}`] = file
  }
  const cookbook = join(root, 'examples/cookbook')
  for (const name of readdirSync(cookbook).filter((each) => each.endsWith('-in-browser.mjs')))
    input[`example-${name.replace('.mjs', '')}`] = join(cookbook, name)
  return input
}
