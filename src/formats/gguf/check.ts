// What is not needed to open a file: the texts and booleans inside arrays, and padding, which should be zero.
import { decodeUtf8 } from '../../bytes/index.js'
import type { CheckContext, MetaList, ReadContext } from '../../model/index.js'
import { codes } from './codes.js'
import type { GgufFile } from './read.js'
import { arrayType, boolType, stringType } from './value-types.js'
import { forEachItem, type Items, itemsOf, readValue, stringAt } from './values.js'

export async function check(files: readonly GgufFile[], context: CheckContext): Promise<void> {
  for (const file of files) {
    const own = { ...context, report: context.report.forFile(file.source.name) }
    for (const [key, value] of file.metadata) {
      if (value.type === 'array') checkItems(itemsOf(value)!, `metadata[${JSON.stringify(key)}]`, own)
    }
    await checkPadding(file, own)
  }
}

async function checkPadding({ source, padding }: GgufFile, context: CheckContext): Promise<void> {
  for (const { offset, length } of padding) {
    const bytes = await source.read(offset, length, { signal: context.signal })
    const at = bytes.findIndex((byte) => byte !== 0)
    if (at < 0) continue
    const message = `padding at ${offset + at} is ${bytes[at]}, not zero`
    context.report.report(codes.padding, { offset: offset + at, length: length - at, path: 'padding', message })
  }
}

function checkItems(items: Items, path: string, context: ReadContext): void {
  if (items.type === stringType) {
    findBad(items, codes['value-utf8'], path, context, (at) => isUtf8(stringAt(items.index, at)))
  } else if (items.type === boolType) {
    findBad(items, codes['bool-value'], path, context, (at) => items.index.bytes[at]! <= 1)
  } else if (items.type === arrayType) {
    forEachItem(items, (at, i) => {
      checkItems(itemsOf(readValue(items.index, arrayType, at) as MetaList)!, `${path}[${i}]`, context)
    })
  }
}

/** Reports the first bad item and how many there are. */
function findBad(
  items: Items,
  code: (typeof codes)[keyof typeof codes],
  path: string,
  { report }: ReadContext,
  isGood: (at: number) => boolean,
): void {
  let count = 0
  let first = { at: 0, i: 0 }
  forEachItem(items, (at, i) => {
    if (isGood(at)) return
    if (count++ === 0) first = { at, i }
  })
  if (count === 0) return
  const message = `${count} of ${items.count} items are not what they should be, the first is number ${first.i}`
  report.report(code, { offset: first.at, path: `${path}[${first.i}]`, message })
}

function isUtf8(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte < 0x80) || decodeUtf8(bytes) !== undefined
}
