// The flags for writing.
import type { FormatOption } from '../../model/index.js'

export const writeOptions: readonly FormatOption[] = [
  {
    name: 'page-hashes',
    argument: '[SIZE]',
    kind: 'size',
    description: 'add a hash for every page of the weights (4 MiB)',
  },
  { name: 'control-hash', description: 'add a hash of header, table of contents and string table' },
  {
    name: 'tensor-hashes',
    argument: '[on|off]',
    choices: ['on', 'off'],
    description: 'a hash for every tensor in the index (on)',
  },
  { name: 'uuid', argument: 'HEX', description: 'the identity of the file, 32 hexadecimal digits (random)' },
  { name: 'zstd-level', argument: 'N', kind: 'integer', description: 'how hard metadata is compressed, 1 to 19 (6)' },
]

export const setOptions: readonly FormatOption[] = [
  ...writeOptions,
  { name: 'part-shards', argument: 'N', kind: 'integer', description: 'weight shards per part of a set (4)' },
]
