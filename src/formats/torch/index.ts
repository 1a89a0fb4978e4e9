import { type ByteSource, decodeLossy } from '../../bytes/index.js'
import { withCompanions } from '../../model/companions.js'
import type { Format, Model, ReadContext } from '../../model/index.js'
import { guessMemberNames, startsLikeZip } from '../../wire/zip.js'
import { check, membersOf, rememberMembers } from './check.js'
import { allTorchCodes, codes } from './codes.js'
import { readArchive } from './read-archive.js'
import { readIndex } from './read-index.js'
import { readLegacy } from './read-legacy.js'

/** How far to look for the beginning of an index's weight map. */
const headSize = 65_536
const indexSuffix = '.bin.index.json'
const published = ['pytorch_model.bin', `pytorch_model${indexSuffix}`] as const
/** What a trainer keeps beside the weights to go on later. */
const trainingState = /^(optimizer|scheduler|scaler|rng_state|random_states|training_args)(?![a-z])/i

export const torch: Format = {
  id: 'torch',
  title: 'PyTorch',
  // `.bin` is too common a name to claim; such files are recognised by what is in them.
  extensions: ['.pt', '.pth', '.ckpt', indexSuffix],
  capabilities: { checksums: 'all' },
  codes: allTorchCodes,
  mends:
    'of a cut or damaged file the tensors whose storages are whole and have their checksum, once the pickle is there; into another format',

  detect(head, name) {
    if (looksLikeIndex(head)) return 'yes'
    if (isMagicPickle(head)) return 'yes'
    const isNamed = /\.(pt|pth|ckpt|bin|pkl|pickle)$/i.test(name)
    if (startsLikeZip(head)) {
      for (const member of guessMemberNames(head)) {
        if (/^[^/]+\/(data\.pkl|constants\.pkl|version|byteorder|\.format_version|data\/[^/]+)$/.test(member))
          return 'yes'
      }
      return isNamed ? 'maybe' : 'no'
    }
    if (isPickle(head)) return 'maybe'
    return /\.(pt|pth|ckpt)$/i.test(name) || name.toLowerCase().endsWith(indexSuffix) ? 'maybe' : 'no'
  },

  published,
  mainFile(names) {
    const usual = [published[1], published[0]].find((name) => names.includes(name))
    if (usual !== undefined) return usual
    const indexes = names.filter((name) => name.endsWith(indexSuffix))
    if (indexes.length === 1) return indexes[0]
    const files = names.filter((name) => /(\.(pt|pth|ckpt)|_model\.bin)$/i.test(name) && !trainingState.test(name))
    return files.length === 1 ? files[0] : undefined
  },

  async read(source, context) {
    const head = await source.read(0, Math.min(source.size, headSize), { signal: context.signal })
    const weights = await (looksLikeIndex(head) ? readIndex(source, context, readFile) : readFile(source, context))
    const model = await withCompanions(weights, source, context)
    rememberMembers(model, membersOf(weights))
    return model
  },

  check,
}

const tarMark = { offset: 257, text: 'ustar' }

async function readFile(source: ByteSource, context: ReadContext): Promise<Model> {
  const head = await source.read(0, Math.min(source.size, 512), { signal: context.signal })
  if (startsLikeZip(head)) return readArchive(source, context)
  if (isPickle(head)) return readLegacy(source, context)
  if (decodeLossy(head.subarray(tarMark.offset, tarMark.offset + tarMark.text.length)) === tarMark.text)
    return context.report.fail(codes.tar, { offset: 0, path: 'file', message: 'the file is a tar archive' })
  const message = 'the file begins neither like a zip archive nor like a pickle'
  return context.report.fail(codes.magic, { offset: 0, path: 'file', message })
}

/** PROTO with a version that Python has had; protocols 0 and 1 begin with anything at all. */
function isPickle(head: Uint8Array): boolean {
  return head[0] === 0x80 && head[1] !== undefined && head[1] >= 2 && head[1] <= 5
}

/** A pickle of PyTorch's magic number: PROTO, perhaps FRAME and its length, LONG1 of ten bytes. */
function isMagicPickle(head: Uint8Array): boolean {
  const at = head[2] === 0x95 ? 11 : 2
  const magic = [0x8a, 0x0a, 0x6c, 0xfc, 0x9c, 0x46, 0xf9, 0x20, 0x6a, 0xa8, 0x50, 0x19]
  return isPickle(head) && magic.every((byte, i) => head[at + i] === byte)
}

/** JSON text with a weight map of `.bin` files near its beginning. */
function looksLikeIndex(head: Uint8Array): boolean {
  if (![0x7b, 0x20, 0x09, 0x0a, 0x0d, 0xef].includes(head[0] ?? 0)) return false
  const text = decodeLossy(head.subarray(0, headSize)).trimStart()
  return text.startsWith('{') && /"weight_map"\s*:\s*\{\s*"(?:[^"\\]|\\.)*"\s*:\s*"[^"]*\.bin"/i.test(text)
}
