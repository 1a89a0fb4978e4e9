// The page as one file, dist/viewer/offline.html: browsers load neither modules nor workers from `file:` addresses, but they run what is in the
// document itself. Its policy allows exactly this script and this style, by their hashes, workers made of its own text, and no requests.
import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'vite'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const viewer = join(root, 'viewer')
const workers = /[\\/](session|tile)-worker\.ts\?worker&url$/

/** Everything that an entry needs, in one script and one style sheet. */
async function joined(entry, plugins = []) {
  const { output } = [
    await build({
      configFile: join(viewer, 'vite.config.ts'),
      root: viewer,
      mode: 'offline',
      logLevel: 'warn',
      plugins,
      publicDir: false,
      build: {
        write: false,
        // What is no script is a `data:` address in it.
        assetsInlineLimit: Number.MAX_SAFE_INTEGER,
        cssCodeSplit: false,
        modulePreload: false,
        rolldownOptions: {
          input: join(viewer, 'src', entry),
          output: { format: 'iife', codeSplitting: false },
          // Nothing asks where the script lies: what it needs is inside.
          checks: { bundlerTimings: false, emptyImportMeta: false },
        },
      },
    }),
  ].flat()[0]
  const scripts = output.filter(({ type }) => type === 'chunk')
  if (scripts.length !== 1) throw new Error(`${entry} became ${scripts.length} scripts`)
  const styles = output.filter(({ fileName }) => fileName.endsWith('.css'))
  return { script: scripts[0].code, style: styles.map(({ source }) => source).join('\n') }
}

/** The address of a worker is that of its own text. */
const workersInside = {
  name: 'workers-inside',
  enforce: 'pre',
  resolveId(id, importer) {
    return workers.test(id) && importer ? join(dirname(importer), id) : undefined
  },
  async load(id) {
    const [, name] = workers.exec(id) ?? []
    if (!name) return undefined
    const { script } = await joined(`engine/${name}-worker.ts`)
    return `export default URL.createObjectURL(new Blob([${JSON.stringify(script)}], { type: 'text/javascript' }))`
  },
}

/** Neither may end the element that it stands in. */
const inside = (text, tag) => text.replaceAll(new RegExp(`</(?=${tag})`, 'gi'), '<\\/').replaceAll('<!--', '<\\!--')
const hashOf = (text) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

const page = await joined('main.tsx', [workersInside])
const [script, style] = [inside(page.script, 'script'), inside(page.style, 'style')]
const policy = [
  "default-src 'none'",
  `script-src ${hashOf(script)} 'wasm-unsafe-eval'`,
  `style-src ${hashOf(style)}`,
  'worker-src blob:',
  'img-src blob: data:',
  'connect-src data:',
  "base-uri 'none'",
  "form-action 'none'",
  "require-trusted-types-for 'script'",
  'trusted-types tare',
].join('; ')
// A function, since `$` in a replacement means something.
const html = readFileSync(join(viewer, 'index.html'), 'utf8')
  .replace(/(?<=Content-Security-Policy"\s+content=")[^"]*/, () => policy)
  .replace(/.*<link rel="icon".*\n/, '')
  .replace(/.*<script vite-ignore src="\.\/from-disk\.js".*\n/, '')
  .replace(/.*<script type="module".*\n/, () => `    <style>${style}</style>\n`)
  .replace(/(?=\n {2}<\/body>)/, () => `\n    <script>${script}</script>`)
writeFileSync(join(root, 'dist/viewer/offline.html'), html)
