import type { OptionsOf } from '../../flags/flag.js'
import { inputs, recursive, threads, workers } from '../../flags/shared.js'
import { defineVerb } from '../verb.js'

export const verify = defineVerb({
  name: 'verify',
  summary: 'run every check that the format has and report all findings',
  description:
    'Checks structure, ranges, names and every checksum that the format stores. Each finding has a code, a byte offset and the path of the field.',
  arguments: [inputs],
  flags: {
    recursive,
    quick: { description: 'structure only: do not read the weights' },
    all: { description: 'list every finding, however many have the same code' },
    strict: { description: 'treat warnings as errors' },
    profile: {
      value: '<name>',
      description: 'require the tensors and metadata of a known model, such as all-MiniLM-L6-v2',
    },
    receipt: { value: '<file>', description: 'check the model against this receipt, written by convert' },
    source: {
      value: '<input>',
      description:
        'with --receipt: also check the model that it was made from, and that only losses in the receipt occurred. For a merged model give each input in order (reversed after --prefer last)',
      repeat: true,
    },
    key: {
      group: 'Signature',
      value: '<file>',
      description: 'the model must be signed with the private key of this public key (PEM)',
    },
    ca: {
      group: 'Signature',
      value: '<file>',
      description: 'the model must be signed by a certificate that one of these roots vouches for (PEM)',
      repeat: true,
    },
    identity: {
      group: 'Signature',
      value: '<name>',
      description: 'the model must be signed keyless by this identity, such as an e-mail address or a workflow',
    },
    issuer: { group: 'Signature', value: '<address>', description: 'with --identity: who must have vouched for it' },
    trustRoot: {
      group: 'Signature',
      value: '<file>',
      description: "with --identity: Sigstore's trusted_root.json; nothing is fetched",
    },
    signature: {
      group: 'Signature',
      value: '<file>',
      description: 'the signature (default: model.sig in a directory, NAME.sig beside a file)',
    },
    ignorePath: {
      group: 'Signature',
      value: '<path>',
      description: 'a path below the model that need not be signed',
      repeat: true,
    },
    ignoreUnsigned: {
      group: 'Signature',
      description: 'accept files in the directory that the signature does not cover',
    },
    threads,
    workers,
  },
  formatOptions: 'check',
  no: 'there are errors, or with --strict warnings',
  examples: [
    ['tare verify model.safetensors', 'exit status 0 when nothing is wrong, 1 when there are errors'],
    ['tare verify --json --quick models/*.gguf', 'one line of JSON per file, without reading the weights'],
    ['tare verify -r --quick models/', 'every model below a directory, and a summary'],
    [
      'tare verify --key public.pem llama/',
      'whether every file is what the owner of the key signed; see also tare sign',
    ],
    [
      'tare verify --receipt model.receipt.json --source model.safetensors model.gguf',
      'whether both files are unchanged since the conversion, and the receipt is true',
    ],
  ],
})

export type VerifyOptions = OptionsOf<typeof verify.flags>
