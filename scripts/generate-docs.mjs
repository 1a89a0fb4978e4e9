// Writes the generated pages of docs/ from the code. With --check it writes nothing and fails when a page is out of date.
import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { meansCannotRun } from '../dist/cli/status.js'
import { verbs } from '../dist/cli/verbs/index.js'
import { families } from '../dist/families/list.js'
import { allCodes, formats } from '../dist/kit.js'
import { conversionsPage } from './conversions-page.mjs'
import { manPages } from './man-pages.mjs'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')

const pages = {
  'docs/codes.md': codesPage(),
  'docs/conversions.md': await conversionsPage(),
  'docs/exit-status.md': exitStatusPage(),
  'docs/llama-cpp.md': llamaCppPage(),
  'docs/repair.md': repairPage(),
  'docs/verify.md': verifyPage(),
  'README.md': readmePage(),
  ...manPages(),
  'package.json': packageManifest(),
}

/** The README's console blocks show what the commands in them really print; its library example is the file that is named above it. */
function readmePage() {
  const folder = mkdtempSync(join(tmpdir(), 'tare-readme-'))
  copyFileSync(join(root, 'examples', 'tiny-mlp.safetensors'), join(folder, 'tiny-mlp.safetensors'))
  const present = readFileSync(join(root, 'README.md'), 'utf8')
  const filled = present
    .replace(/```console\n([\s\S]*?)```/g, (_, block) => {
      const commands = block.split('\n').filter((line) => line.startsWith('$ tare '))
      return `\`\`\`console\n${commands.map((command) => `${command}\n${outputOf(command, folder)}`).join('')}\`\`\``
    })
    .replace(/<!-- (examples\/[a-z-]+\.mjs) -->\n```js\n[\s\S]*?```/g, (_, file) => {
      return `<!-- ${file} -->\n\`\`\`js\n${readFileSync(join(root, file), 'utf8')}\`\`\``
    })
    .replace(/<!-- formats -->[\s\S]*<!-- \/formats -->/, `<!-- formats -->\n${formatTable()}<!-- /formats -->`)
    .replace(/<!-- counts -->.*<!-- \/counts -->/, `<!-- counts -->${formatCounts()}<!-- /counts -->`)
  rmSync(folder, { recursive: true, force: true })
  return filled
}

function formatTable() {
  const checksums = {
    none: 'structure; the format has no checksums',
    index: 'structure and checksums of the index',
    all: 'structure and all checksums',
  }
  const rows = formats.map(({ id, title, extensions, capabilities }) => {
    const names = extensions.map((extension) => `\`${extension}\``).join(' ')
    return `| ${title} | \`${id}\` | ${names} | yes | ${checksums[capabilities.checksums]} | ${capabilities.write ? 'yes' : capabilities.writeFor ? 'certain models' : 'no'} |`
  })
  return (
    ['| format | id | files | read | verify | write |', '| --- | --- | --- | --- | --- | --- |', ...rows].join('\n') +
    '\n'
  )
}

function formatCounts() {
  const writable = formats.filter(({ capabilities }) => capabilities.write || capabilities.writeFor)
  return `reads ${formats.length}, writes ${writable.length}`
}

/** npm installs only man pages that are listed one by one. */
function packageManifest() {
  const list = Object.keys(manPages()).map((name) => `    "./${name}"`)
  const present = readFileSync(join(root, 'package.json'), 'utf8')
  return present.replace(/"man": \[[^\]]*\]/, `"man": [\n${list.join(',\n')}\n  ]`)
}

/** When each verb answers with status 1. */
function exitStatusPage() {
  const rows = verbs.map(({ name, no }) => `| \`${name}\` | ${no} |`)
  const table = ['| verb | status 1 |', '| --- | --- |', ...rows].join('\n')
  const present = readFileSync(join(root, 'docs', 'exit-status.md'), 'utf8')
  return present
    .replace(/<!-- verbs -->[\s\S]*<!-- \/verbs -->/, `<!-- verbs -->\n${table}\n<!-- /verbs -->`)
    .replace(/<!-- codes -->[\s\S]*<!-- \/codes -->/, `<!-- codes -->\n${codesOfStatus2()}\n<!-- /codes -->`)
}

/** The codes that lead to status 2, by the part before the slash: all of them, all but a few, or a few. */
function codesOfStatus2() {
  const all = allCodes()
  const lines = []
  for (const room of new Set(all.map(({ code }) => code.split('/')[0]))) {
    const codes = all.filter(({ code }) => code.startsWith(`${room}/`))
    const names = (list) => list.map(({ code }) => `\`${code}\``).join(', ')
    const [yes, no] = [
      codes.filter(({ code }) => meansCannotRun(code)),
      codes.filter(({ code }) => !meansCannotRun(code)),
    ]
    if (yes.length === 0) continue
    if (no.length === 0) lines.push(`- \`${room}/*\``)
    else if (no.length < yes.length) lines.push(`- \`${room}/*\` but ${names(no)}`)
    else lines.push(`- ${names(yes)}`)
  }
  return lines.join('\n')
}

/** The architectures that can be converted to GGUF, from their tables. */
function llamaCppPage() {
  const rows = families.map(({ architecture, classes }) => {
    return `| ${classes.map((name) => `\`${name}\``).join(', ')} | \`${architecture}\` |`
  })
  // Some classes have several tables that lead to one architecture.
  const table = ['| class in `config.json` | in GGUF |', '| --- | --- |', ...new Set(rows)].join('\n')
  const present = readFileSync(join(root, 'docs', 'llama-cpp.md'), 'utf8')
  const between = /<!-- architectures -->[\s\S]*<!-- \/architectures -->/
  return present.replace(between, `<!-- architectures -->\n${table}\n<!-- /architectures -->`)
}

/** What each format says can be repaired. */
function repairPage() {
  const rows = formats.flatMap(({ title, repairs }) => (repairs === undefined ? [] : [`| ${title} | ${repairs} |`]))
  const table = ['| format | what is repaired or saved |', '| --- | --- |', ...rows].join('\n')
  const present = readFileSync(join(root, 'docs', 'repair.md'), 'utf8')
  return present.replace(/<!-- repairs -->[\s\S]*<!-- \/repairs -->/, `<!-- repairs -->\n${table}\n<!-- /repairs -->`)
}

/** What a verdict about each format proves. */
function verifyPage() {
  const titles = (isChecked) =>
    formats
      .filter(({ capabilities }) => (capabilities.checksums === 'all') === isChecked)
      .map(({ title }) => title)
      .join(', ')
  const table = [
    '| format | what can be proved |',
    '| --- | --- |',
    `| ${titles(true)} | every byte of the weights is what was written: they have checksums |`,
    `| ${titles(false)} | the structure is sound: sizes, shapes, offsets and types agree, nothing overlaps, nothing is missing. A flipped bit in a weight cannot be seen |`,
  ].join('\n')
  const present = readFileSync(join(root, 'docs', 'verify.md'), 'utf8')
  return present.replace(
    /<!-- checksums -->[\s\S]*<!-- \/checksums -->/,
    `<!-- checksums -->\n${table}\n<!-- /checksums -->`,
  )
}

function outputOf(command, folder) {
  const args = command
    .slice('$ tare '.length)
    .split(' ')
    .map((arg) => arg.replace(/^'(.*)'$/, '$1'))
  const { stdout, stderr } = spawnSync(process.execPath, [join(root, 'dist', 'bundle', 'main.js'), ...args], {
    cwd: folder,
    encoding: 'utf8',
  })
  return (stdout + stderr).replace(/\d+\.\d s$/gm, '0.0 s').replaceAll(/ +$/gm, '')
}

function codesPage() {
  const lines = [
    '# Codes',
    '',
    'Every finding and every error carries one of these codes, the byte offset and the path of the field. Generated by `npm run docs`.',
  ]
  let room
  for (const { code, severity, text } of allCodes()) {
    const prefix = code.split('/')[0]
    if (prefix !== room) lines.push('', `## ${prefix}`, '', '| code | severity | meaning |', '| --- | --- | --- |')
    room = prefix
    lines.push(`| \`${code}\` | ${severity} | ${text.replaceAll('|', '\\|')} |`)
  }
  return `${lines.join('\n')}\n`
}

mkdirSync(join(root, 'docs', 'man'), { recursive: true })
let outdated = 0
for (const name of readdirSync(join(root, 'docs', 'man'))) {
  if (`docs/man/${name}` in pages) continue
  process.stderr.write(`docs/man/${name} is about a verb that does not exist; remove it\n`)
  outdated++
}
for (const [name, text] of Object.entries(pages)) {
  const path = join(root, name)
  if (!process.argv.includes('--check')) {
    writeFileSync(path, text)
    continue
  }
  let present = ''
  try {
    present = readFileSync(path, 'utf8')
  } catch {}
  if (present === text) continue
  process.stderr.write(`${name} is out of date: run \`npm run docs\`\n`)
  outdated++
}
process.exitCode = outdated > 0 ? 1 : 0
