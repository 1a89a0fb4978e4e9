import type { OptionsOf } from '../../flags/flag.js'
import { allowDamage, inputs, recursive, tableFlags, threads } from '../../flags/shared.js'
import { defineVerb } from '../verb.js'

export const hash = defineVerb({
  name: 'hash',
  summary: 'print a digest of each tensor and a fingerprint that does not depend on the container',
  arguments: [inputs],
  flags: {
    recursive,
    algorithm: {
      value: '<name>',
      description: 'blake3 (default), sha256 or crc32',
      choices: ['blake3', 'sha256', 'crc32'],
    },
    decoded: { description: 'digest the values as little-endian f32 in row-major order, not the stored bytes' },
    check: { value: '<file>', description: 'compare with the output of an earlier run, text or JSON' },
    allowDamage,
    ...tableFlags,
    threads,
  },
  no: 'a digest differs from --check, or the input is damaged',
  examples: [
    ['tare hash model.safetensors > model.hash', 'keep the digests of all tensors'],
    ['tare hash --check model.hash model.gguf', 'see which tensors differ from them; exit status 1 if any does'],
  ],
})

export type HashOptions = OptionsOf<typeof hash.flags>
