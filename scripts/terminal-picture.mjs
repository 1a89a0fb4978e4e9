// Draws docs/images/terminal.svg, the picture in the README: commands and what they really print, appearing one after the other.
//
//   npm run build && node scripts/terminal-picture.mjs
import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { stripVTControlCharacters } from 'node:util'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const main = join(root, 'dist', 'bundle', 'main.js')

const commands = [
  'tare inspect tiny-mlp.safetensors',
  'tare convert tiny-mlp.safetensors -o tiny-mlp.aero --cast f16',
  'tare verify tiny-mlp.aero',
  'tare diff tiny-mlp.safetensors tiny-mlp.aero',
]

const size = { char: 8.4, line: 19, font: 14, margin: 22, top: 44, columns: 108 }
const palette = {
  background: '#15171e',
  text: '#d7dae0',
  prompt: '#7fd1b9',
  codes: { 31: '#f07178', 32: '#a5d6a7', 33: '#ffcb6b', 36: '#80cbc4', 90: '#8a92a3' },
}

/** The runs of one line: text with the style that is in force. */
function runsOf(line) {
  const runs = []
  let style = {}
  for (const [, codes, text] of `\x1b[0m${line}`.matchAll(/\x1b\[([0-9;]*)m([^\x1b]*)/g)) {
    for (const code of codes.split(';').map(Number)) style = styleAfter(style, code)
    if (text !== '') runs.push({ text, style })
  }
  return runs
}

function styleAfter(style, code) {
  if (code === 0) return {}
  if (code === 1) return { ...style, bold: true }
  if (code === 2) return { ...style, dim: true }
  if (code === 22) return { ...style, bold: false, dim: false }
  if (code === 39) return { ...style, color: undefined }
  return palette.codes[code] ? { ...style, color: palette.codes[code] } : style
}

const escapeXml = (text) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

function span({ text, style }) {
  const fill = ` fill="${style.color ?? palette.text}"`
  return `<tspan${fill}${style.bold ? ' font-weight="700"' : ''}${style.dim ? ' opacity="0.6"' : ''}>${escapeXml(text)}</tspan>`
}

function run(command, folder) {
  const args = command.split(' ').slice(1)
  const env = { ...process.env, FORCE_COLOR: '1', COLUMNS: String(size.columns) }
  const { stdout, stderr } = spawnSync(process.execPath, [main, ...args], { cwd: folder, encoding: 'utf8', env })
  return (stdout + stderr).trimEnd().split('\n')
}

function draw() {
  const folder = mkdtempSync(join(tmpdir(), 'tare-picture-'))
  try {
    copyFileSync(join(root, 'examples', 'tiny-mlp.safetensors'), join(folder, 'tiny-mlp.safetensors'))
    const blocks = commands.map((command) => ({ command, lines: run(command, folder) }))
    return svg(blocks)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function svg(blocks) {
  let row = 0
  let delay = 0
  const groups = blocks.map(({ command, lines }) => {
    const place = (at) => size.top + at * size.line + size.font
    const text = (at, content) => `<text x="${size.margin}" y="${place(at)}" xml:space="preserve">${content}</text>`
    const prompt = `<tspan fill="${palette.prompt}" font-weight="700">$ </tspan><tspan fill="#ffffff">${escapeXml(command)}</tspan>`
    const body = [text(row, prompt), ...lines.map((line, i) => text(row + 1 + i, runsOf(line).map(span).join('')))]
    row += lines.length + 2
    const group = `<g class="step" style="animation-delay:${delay.toFixed(1)}s">${body.join('')}</g>`
    delay += 0.9 + lines.length * 0.06
    return group
  })
  const longest = Math.max(
    ...blocks.flatMap(({ command, lines }) => [command, ...lines]).map((line) => stripVTControlCharacters(line).length),
  )
  const width = Math.ceil(2 * size.margin + (longest + 2) * size.char)
  const height = size.top + (row - 1) * size.line + size.margin
  const dots = ['#ff5f57', '#febc2e', '#28c840'].map(
    (fill, i) => `<circle cx="${24 + i * 20}" cy="20" r="6" fill="${fill}"/>`,
  )
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="A terminal: tare lists a model, converts it, verifies the result and compares both">
<style>
text { font: ${size.font}px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; white-space: pre }
.step { opacity: 0; animation: appear 0.3s forwards }
@keyframes appear { to { opacity: 1 } }
@media (prefers-reduced-motion: reduce) { .step { opacity: 1; animation: none } }
</style>
<rect width="${width}" height="${height}" rx="10" fill="${palette.background}"/>
${dots.join('')}
${groups.join('\n')}
</svg>
`
}

mkdirSync(join(root, 'docs', 'images'), { recursive: true })
writeFileSync(join(root, 'docs', 'images', 'terminal.svg'), draw())
