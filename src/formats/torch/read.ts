// Reading: an archive, the format before that, or an index of several files.
import { type ByteSource, decodeLossy } from '../../bytes/index.js'
import { withCompanions } from '../../content/companions.js'
import type { Opened, ReadContext } from '../../model/index.js'
import { startsLikeZip } from '../../wire/zip/guess.js'
import { codes } from './codes.js'
import { headSize, isPickle, looksLikeIndex } from './detect.js'
import { readModelArchive } from './model-archive.js'
import { readArchive } from './read-archive.js'
import { readIndex } from './read-index.js'
import { readLegacy } from './read-legacy.js'

export async function read(source: ByteSource, context: ReadContext): Promise<Opened> {
  const head = await source.read(0, Math.min(source.size, headSize), { signal: context.signal })
  const weights = await (looksLikeIndex(head) ? readIndex(source, context, readFile) : readFile(source, context))
  return { ...weights, model: await withCompanions(weights.model, source, context) }
}

const tarMark = { offset: 257, text: 'ustar' }

async function readFile(source: ByteSource, context: ReadContext): Promise<Opened> {
  const head = await source.read(0, Math.min(source.size, 512), { signal: context.signal })
  if (startsLikeZip(head))
    return (await readModelArchive(source, head, context, readFile)) ?? readArchive(source, context)
  if (isPickle(head)) return readLegacy(source, context)
  if (decodeLossy(head.subarray(tarMark.offset, tarMark.offset + tarMark.text.length)) === tarMark.text)
    return context.report.fail(codes.tar, { offset: 0, path: 'file', message: 'the file is a tar archive' })
  const message = 'the file begins neither like a zip archive nor like a pickle'
  return context.report.fail(codes.magic, { offset: 0, path: 'file', message })
}
