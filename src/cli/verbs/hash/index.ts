import type { OptionsOf } from '../../flags/flag.js'
import { allowDamage, inputs, recursive, tableFlags, threads, workers } from '../../flags/shared.js'
import { defineVerb } from '../verb.js'

export const hash = defineVerb({
  name: 'hash',
  summary: 'print a digest of each tensor and a fingerprint that does not depend on the container',
  arguments: [
    {
      name: '[input...]',
      description: `${inputs.description}; with --check of a list of files, none means all of them`,
    },
  ],
  flags: {
    recursive,
    algorithm: {
      value: '<name>',
      description: 'blake3 (default), sha256 or crc32',
      choices: ['blake3', 'sha256', 'crc32'],
    },
    decoded: { description: 'digest the values as little-endian f32 in row-major order, not the stored bytes' },
    check: {
      value: '<file>',
      description:
        'compare with the output of an earlier run, text or JSON, or with a list by sha256sum, b3sum or gguf-hash',
    },
    manifest: {
      value: '<form>',
      description:
        'print digests as another tool does, for it to check: sha256sum or b3sum (of whole files), gguf-hash (of tensors)',
      choices: ['sha256sum', 'b3sum', 'gguf-hash'],
    },
    changed: {
      description: 'with --check of a list of files: read only those that were modified after the list was written',
    },
    allowDamage,
    ...tableFlags,
    threads,
    workers,
  },
  no: 'a digest differs from --check, or the input is damaged',
  examples: [
    ['tare hash model.safetensors > model.hash', 'keep the digests of all tensors'],
    ['tare hash --check model.hash model.gguf', 'which tensors have changed since; exit status 1 if any has'],
    ['tare hash --manifest sha256sum llama/ > SHA256SUMS', 'a list that `sha256sum -c SHA256SUMS` checks'],
    [
      'tare hash /shared/model/ --workers nats://host:4222',
      'read by all machines that run `tare worker nats://host:4222`',
    ],
    ['tare hash --check SHA256SUMS --changed', 'check that list, reading only files that were modified since'],
  ],
})

export type HashOptions = OptionsOf<typeof hash.flags>
