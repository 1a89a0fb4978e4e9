// Runs the tests on other versions of Node, which npm installs into a temporary folder.
//
//   npm run build && node scripts/test-on-node.mjs 20.19 22 24            all tests on each version
//   node scripts/test-on-node.mjs 22 24 -- test/api test/cli/main.test.ts these test files only
//
// The exit status is 1 when a test failed, and 77 when nothing failed but a version could not be installed.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const words = process.argv.slice(2)
const separator = words.includes('--') ? words.indexOf('--') : words.length
const versions = words.slice(0, separator)
const files = words.slice(separator + 1)
if (versions.length === 0) {
  console.error('name the versions of Node, such as 22 24')
  process.exit(2)
}

const folder = mkdtempSync(join(tmpdir(), 'tare-node-'))
try {
  const results = versions.map((version) => ({ version, result: testOn(version) }))
  console.log()
  for (const { version, result } of results) console.log(`Node ${version}: ${result}`)
  const all = results.map(({ result }) => result)
  process.exitCode = all.includes('failed') ? 1 : all.includes('skipped, cannot be installed') ? 77 : 0
} finally {
  rmSync(folder, { recursive: true, force: true })
}

function testOn(version) {
  const node = install(version)
  if (node === undefined) return 'skipped, cannot be installed'
  const env = { ...process.env, PATH: `${dirname(node)}${delimiter}${process.env.PATH}` }
  const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs')
  console.log(`== Node ${version}`)
  const { status } = spawnSync(node, [vitest, 'run', ...files], { cwd: root, env, stdio: 'inherit' })
  return status === 0 ? 'passed' : 'failed'
}

/** The program of a version; undefined where npm has none for this system, or cannot be reached. */
function install(version) {
  const platform = process.platform === 'win32' ? 'win' : process.platform
  const prefix = join(folder, version)
  const what = `node-${platform}-${process.arch}@${version}`
  const npm = ['install', '--no-save', '--no-audit', '--no-fund', '--loglevel=error', '--prefix', prefix, what]
  spawnSync('npm', npm, { stdio: 'inherit', shell: process.platform === 'win32' })
  const node = join(prefix, 'node_modules', `node-${platform}-${process.arch}`, 'bin', 'node')
  const { status, stdout } = spawnSync(node, ['--version'], { encoding: 'utf8' })
  return status === 0 && stdout.startsWith(`v${version}.`) ? node : undefined
}
