import { type ByteSource, decodeLossy } from '../bytes/index.js'
import { type Code, failWith, openCodes, type Report } from '../errors/index.js'
import type { Format } from '../model/index.js'
import { describeForeign, foreignKind } from './foreign.js'
import { formats } from './list.js'

/** How many bytes formats may look at to recognise a file. One request over a network brings this much anyway. */
export const headSize = 65_536

export const formatById = (id: string): Format | undefined => formats.find((format) => format.id === id)

/** The format that a name stands for, by the longest extension that fits. */
export function formatForOutput(name: string): Format | undefined {
  const lower = name.toLowerCase()
  let best: { format: Format; length: number } | undefined
  for (const format of formats) {
    for (const extension of format.extensions) {
      if (lower.endsWith(extension) && extension.length > (best?.length ?? 0))
        best = { format, length: extension.length }
    }
  }
  return best?.format
}

export function requireFormat(id: string): Format {
  const known = formats.map((format) => format.id).join(', ')
  return (
    formatById(id) ??
    failWith(openCodes['unknown-format-id'], { file: id, message: `there is no format "${id}"; known are ${known}` })
  )
}

/** Content decides; the name helps only where the content leaves it open, and never against it. */
export function detectFormat({ name, size }: ByteSource, head: Uint8Array, report: Report): Format {
  const answers = formats.map((format) => ({ format, answer: format.detect(head, name, size) }))
  const found = answers.find(({ answer }) => answer === 'yes')
  if (found) return found.format
  const wrong = commonMistake(head)
  if (wrong) report.fail(wrong, { offset: 0, path: 'file', message: wrong.text })
  const likely = answers.filter(({ answer }) => answer === 'maybe').map(({ format }) => format)
  const foreign = foreignKind(head, name, size, likely.length > 0)
  if (foreign) report.fail(openCodes['foreign-format'], { offset: 0, path: 'file', message: describeForeign(foreign) })
  // Of several, one that would say so whatever the file is called.
  const best = likely.find((format) => format.detect(head, '', size) === 'maybe') ?? likely[0]
  if (best) return best
  return report.fail(openCodes['unknown-format'], {
    offset: 0,
    path: 'file',
    message: openCodes['unknown-format'].text,
  })
}

/** The wrong contents that most often hide under a model's name. */
function commonMistake(head: Uint8Array): Code | undefined {
  if (head.byteLength === 0) return openCodes.empty
  const text = decodeLossy(head.subarray(0, 256)).trimStart().toLowerCase()
  if (text.startsWith('version https://git-lfs')) return openCodes['git-lfs-pointer']
  if (text.startsWith('<!doctype html') || text.startsWith('<html')) return openCodes.html
  return undefined
}
