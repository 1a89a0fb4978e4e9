// Tables in docs/reliability.md that scripts write, between two marks.
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const page = fileURLToPath(new URL('../docs/reliability.md', import.meta.url))

export function putTable(name, head, rows) {
  const text = readFileSync(page, 'utf8')
  const pattern = new RegExp(`<!-- ${name} -->[\\s\\S]*<!-- /${name} -->`)
  if (!pattern.test(text)) throw new Error(`${page} has no place for the table ${name}`)
  const table = [...head, ...rows].join('\n')
  writeFileSync(
    page,
    text.replace(pattern, () => `<!-- ${name} -->\n${table}\n<!-- /${name} -->`),
  )
}

/** The cells of a table that is there, without its head. */
export function rowsOf(name) {
  const [, table = ''] =
    new RegExp(`<!-- ${name} -->([\\s\\S]*)<!-- /${name} -->`).exec(readFileSync(page, 'utf8')) ?? []
  const lines = table.split('\n').filter((line) => line.startsWith('|'))
  return lines.slice(2).map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  )
}
