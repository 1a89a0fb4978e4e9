// Checks that opening a file does not need: the texts and booleans inside arrays, and padding, which should be zero.
import { decodeUtf8 } from '../../bytes/index.js'
import type { CheckContext, ReadContext } from '../../model/index.js'
import { codes } from './codes.js'
import { readValue, StoredList, stringAt } from './metadata.js'
import type { GgufFile } from './structs.js'
import { arrayType, boolType, stringType } from './value-types.js'

export async function check(files: readonly GgufFile[], context: CheckContext): Promise<void> {
  for (const file of files) {
    const own = { ...context, report: context.report.forFile(file.source.name) }
    for (const [key, value] of file.metadata) {
      if (value instanceof StoredList) checkItems(value, `metadata[${JSON.stringify(key)}]`, own)
    }
    await checkPadding(file, own)
  }
}

async function checkPadding({ source, padding }: GgufFile, context: CheckContext): Promise<void> {
  for (const { start, end } of padding) {
    const bytes = await source.read(start, end - start, { signal: context.signal })
    const at = bytes.findIndex((byte) => byte !== 0)
    if (at < 0) continue
    const message = `padding at ${start + at} is ${bytes[at]}, not zero`
    context.report.report(codes.padding, { offset: start + at, length: end - start - at, path: 'padding', message })
  }
}

function checkItems(list: StoredList, path: string, context: ReadContext): void {
  const { index, itemType } = list
  if (itemType === stringType) {
    findBad(list, codes['value-utf8'], path, context, (at) => decodeUtf8(stringAt(index, at)) !== undefined)
  } else if (itemType === boolType) {
    findBad(list, codes['bool-value'], path, context, (at) => index.window.bytes[at]! <= 1)
  } else if (itemType === arrayType) {
    list.forEachItem((at, i) => {
      checkItems(readValue(index, arrayType, at) as StoredList, `${path}[${i}]`, context)
    })
  }
}

/** Reports the first bad item and how many there are. */
function findBad(
  list: StoredList,
  code: (typeof codes)[keyof typeof codes],
  path: string,
  { report }: ReadContext,
  isGood: (at: number) => boolean,
): void {
  let count = 0
  let first = { at: 0, i: 0 }
  list.forEachItem((at, i) => {
    if (isGood(at)) return
    if (count++ === 0) first = { at, i }
  })
  if (count === 0) return
  const message = `${count} of ${list.length} items are not what they should be, the first is number ${first.i}`
  report.report(code, { offset: first.at, path: `${path}[${first.i}]`, message })
}
