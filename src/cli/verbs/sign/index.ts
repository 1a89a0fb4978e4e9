import type { OptionsOf } from '../../flags/flag.js'
import { parsePositive } from '../../flags/parse-values.js'
import { ofModelsOnly, output, overwrite, threads } from '../../flags/shared.js'
import { defineVerb } from '../verb.js'

export const sign = defineVerb({
  name: 'sign',
  summary: 'sign a model so that others can verify who made it (OpenSSF Model Signing)',
  description:
    'Writes a signature over the digests of all files of a model: a Sigstore bundle that the model_signing tool and `tare verify` check. The key is an elliptic curve key on P-256, P-384 or P-521 in PEM form; the password of an encrypted one comes from the environment variable TARE_KEY_PASSWORD.',
  arguments: [
    {
      name: '<model>',
      description: 'a file, a directory with everything in it, or an address of either (http, s3, gs, hf)',
    },
  ],
  flags: {
    key: { value: '<file>', description: 'the private key, in PEM form' },
    certificate: {
      value: '<file>',
      description: 'the certificate of the key, in PEM form; the signature is then verified with --ca',
    },
    chain: {
      value: '<file>',
      description: 'certificates between the one of the key and the root',
      repeat: true,
    },
    output: output('the signature (default: model.sig in a directory or prefix, NAME.sig beside a file or object)'),
    tensors: { description: 'sign a digest of each tensor as well, so that verify can name the tensors that changed' },
    ignorePath: {
      value: '<path>',
      description: 'a path below the model that is not signed',
      repeat: true,
    },
    allowSymlinks: { description: 'sign the files that symbolic links lead to, under the names of the links' },
    hash: {
      value: '<name>',
      description: 'sha256 (default), blake2b or blake3',
      choices: ['sha256', 'blake2b', 'blake3'],
    },
    pieces: {
      value: '<bytes>',
      description: 'sign pieces of this many bytes instead of whole files',
      parse: parsePositive,
    },
    overwrite,
    threads,
  },
  omits: ofModelsOnly,
  no: 'the model cannot be signed as it is, for example because of a symbolic link',
  examples: [
    [
      'tare sign llama/ --key key.pem',
      'writes llama/model.sig, which others check with: tare verify llama/ --key public.pem',
    ],
    [
      'tare sign model.gguf --key key.pem --certificate me.pem --chain authority.pem',
      'with a certificate: writes model.gguf.sig',
    ],
  ],
})

export type SignVerbOptions = OptionsOf<typeof sign.flags>
