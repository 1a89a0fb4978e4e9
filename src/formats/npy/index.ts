import type { Format } from '../../model/index.js'
import { startsLikeNpy } from '../../wire/npy/header.js'
import { guessMemberNames, startsLikeZip } from '../../wire/zip/guess.js'
import { npyWrite, npzWrite } from './capabilities.js'
import { npyCodes, npzCodes } from './codes.js'
import { extension } from './names.js'

const archiveExtension = '.npz'

export const npy: Format<'npy', typeof npyCodes> = {
  id: 'npy',
  title: 'NPY',
  extensions: [extension],
  capabilities: { checksums: 'none', plain: true, defaults: { version: '1.0' }, write: npyWrite },
  codes: npyCodes,
  repairs: 'nothing: a file is one array, without a checksum',
  detect(head, name) {
    if (startsLikeNpy(head)) return 'yes'
    return name.toLowerCase().endsWith(extension) ? 'maybe' : 'no'
  },
  mainFile: (names) => onlyOne(names, extension),
  load: async () => (await import('./implementation.js')).npy,
}

export const npz: Format<'npz', typeof npzCodes> = {
  id: 'npz',
  title: 'NPZ',
  extensions: [archiveExtension],
  capabilities: { checksums: 'all', write: npzWrite },
  codes: npzCodes,
  repairs: 'from a cut or damaged file, the arrays that match their checksum',
  detect(head, name) {
    // An archive whose first member is an array, or one without members; others are zip files of some other kind.
    const [first] = startsLikeZip(head) ? guessMemberNames(head) : [undefined]
    if (first?.toLowerCase().endsWith(extension)) return 'yes'
    if (startsLikeZip(head) && first === undefined) return 'maybe'
    return name.toLowerCase().endsWith(archiveExtension) ? 'maybe' : 'no'
  },
  mainFile: (names) => onlyOne(names, archiveExtension),
  load: async () => (await import('./implementation.js')).npz,
}

function onlyOne(names: readonly string[], ending: string): string | undefined {
  const files = names.filter((name) => name.toLowerCase().endsWith(ending))
  return files.length === 1 ? files[0] : undefined
}
