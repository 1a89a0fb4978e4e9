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
