import { decodeLossy } from '../../bytes/index.js'
import type { Format, FormatOption } from '../../model/index.js'
import { setCapabilities, writeCapabilities, writeFor } from './capabilities.js'
import { codes, setCodes } from './codes.js'
import { magic } from './structs.js'

const setSuffix = '.aeroset.json'

const writeOptions: readonly FormatOption[] = [
  {
    name: 'page-hashes',
    argument: '[SIZE]',
    kind: 'size',
    description: 'add a hash for every page of the weights (default size: 4 MiB)',
  },
  { name: 'control-hash', description: 'add a hash of header, table of contents and string table' },
  {
    name: 'tensor-hashes',
    argument: '[on|off]',
    choices: ['on', 'off'],
    description: 'a hash for every tensor in the index (default: on)',
  },
  {
    name: 'uuid',
    argument: 'HEX',
    description: 'the identity of the file, 32 hexadecimal digits (default: random)',
    isRandom: true,
  },
  {
    name: 'zstd-level',
    argument: 'N',
    kind: 'integer',
    description: 'compression level of the metadata, 1 to 19 (default: 6)',
  },
]

const setOptions: readonly FormatOption[] = [
  ...writeOptions,
  { name: 'part-shards', argument: 'N', kind: 'integer', description: 'weight shards per part of a set (default: 4)' },
]

const checkOptions: readonly FormatOption[] = [
  {
    name: 'control',
    description: 'compare the control region with the control hash (IHSH) and leave the weights unread',
  },
]

export const aero: Format<'aero', typeof codes> = {
  id: 'aero',
  title: 'AERO',
  extensions: ['.aero'],
  capabilities: {
    checksums: 'all',
    defaults: { version: '0.1' },
    write: writeCapabilities,
    writeFor: writeFor('aero', writeCapabilities),
  },
  codes,
  repairs:
    'defects of known writers; from a cut file, the complete tensors in its index; from a damaged one, those that match their hashes',
  detect(head, name) {
    if (magic.every((byte, i) => head[i] === byte)) return 'yes'
    return name.toLowerCase().endsWith('.aero') ? 'maybe' : 'no'
  },
  mainFile(names) {
    if (names.some((name) => name.endsWith(setSuffix))) return undefined
    const files = names.filter((name) => name.endsWith('.aero'))
    return files.length === 1 ? files[0] : files.find((name) => name === 'model.aero')
  },
  options: { write: writeOptions, check: checkOptions },
  load: async () => (await import('./implementation.js')).aero,
}

export const aeroset: Format<'aeroset', typeof setCodes> = {
  id: 'aeroset',
  title: 'AEROSET',
  extensions: [setSuffix],
  capabilities: {
    checksums: 'all',
    defaults: { version: '0.1' },
    write: setCapabilities,
    writeFor: writeFor('aeroset', setCapabilities),
  },
  codes: setCodes,
  repairs: 'from a set, the complete tensors of the parts that are left',
  detect(head, name) {
    const text = decodeLossy(head.subarray(0, 4096)).trimStart()
    if (text.startsWith('{') && /"name"\s*:\s*"AEROSET"/.test(text)) return 'yes'
    return name.toLowerCase().endsWith(setSuffix) ? 'maybe' : 'no'
  },
  mainFile(names) {
    const indexes = names.filter((name) => name.endsWith(setSuffix))
    return indexes.length === 1 ? indexes[0] : indexes.find((name) => name === `model${setSuffix}`)
  },
  options: { write: setOptions, check: checkOptions },
  load: async () => (await import('./implementation.js')).aeroset,
}
