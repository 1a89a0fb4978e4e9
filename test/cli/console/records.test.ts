import { expect, test } from 'vitest'
import { sizeCell } from '../../../src/cli/console/cells.js'
import { formatRecords } from '../../../src/cli/console/records.js'

const columns = [{ title: 'name' }, { title: 'size', align: 'right' as const }]
const rows = [
  ['a,"b"', sizeCell(2048)],
  ['c|<d>\te', 'no data'],
]

test.each([
  ['csv', ['name,size', '"a,""b""",2048', 'c|<d>\te,no data']],
  ['tsv', ['name\tsize', 'a,"b"\t2048', 'c|<d> e\tno data']],
  ['md', ['| name | size |', '| --- | ---: |', '| a,"b" | 2.00 KiB |', '| c\\|\\<d>\te | no data |']],
] as const)('%s quotes what would end a field', (format, lines) => {
  expect([...formatRecords(columns, rows, format)]).toEqual(lines)
})
