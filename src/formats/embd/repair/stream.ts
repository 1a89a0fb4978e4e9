// Repairs a stream file whose end is wrong: bytes behind the last token are left out, and where the file was cut, what is whole is kept.

import type { ByteSource } from '../../../bytes/index.js'
import type { Code } from '../../../errors/index.js'
import type { Repair, WriteOptions } from '../../../model/index.js'
import { codes } from '../codes.js'
import { streamModel } from '../read.js'
import { layoutStream } from '../stream/layout.js'
import type { Walk } from '../stream/walk.js'

const cutAt: Readonly<Record<'tensor' | 'count' | 'token', ReadonlySet<Code>>> = {
  tensor: new Set([codes['truncated-name'], codes['truncated-shape'], codes['truncated-data']]),
  count: new Set([codes['truncated-vocab-count']]),
  token: new Set([codes['truncated-token']]),
}

export function repairStream(walk: Walk, source: ByteSource, options: WriteOptions): Repair | undefined {
  const { fatal, end, tensors, problems } = walk
  if (!walk.isPlausible || problems.some(({ code }) => code.severity === 'error')) return undefined
  const repaired: string[] = []
  const lost: string[] = []
  if (end !== undefined) {
    if (end === source.size) return undefined
    repaired.push(`the file ends at ${end}, behind its last token`)
    lost.push(`${source.size - end} bytes that followed it`)
  } else {
    if (!fatal || tensors.length === 0) return undefined
    if (cutAt.tensor.has(fatal.code)) {
      repaired.push(`the file ends behind the last of ${tensors.length} tensors that are whole`)
      lost.push(`${fatal.details.path} and everything behind it, the vocabulary too: the file ends there`)
    } else if (cutAt.count.has(fatal.code)) {
      repaired.push('the number of tokens, 0, stands behind the tensors')
      lost.push('the vocabulary, if there was one: the file ends before it')
    } else if (cutAt.token.has(fatal.code)) {
      repaired.push(`the file ends behind its ${tensors.length} tensors`)
      lost.push(`the vocabulary: the file ends inside it, at ${fatal.details.path}`)
    } else return undefined
  }
  return { layout: { files: [layoutStream(streamModel(walk, source), options)] }, repaired, lost }
}
