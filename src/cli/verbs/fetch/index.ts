import type { OptionsOf } from '../../flags/flag.js'
import { parsePositive } from '../../flags/parse-values.js'
import { ofModelsOnly } from '../../flags/shared.js'
import { defineVerb } from '../verb.js'

export const fetch = defineVerb({
  name: 'fetch',
  summary: 'bring a model from a server, a store or the hub into a directory',
  description:
    'Fetches the files at an address, several at once, and compares them with the digests that the server states. An interrupted run is resumed when it is run again; files that are complete are not fetched again.',
  arguments: [{ name: '<address>', description: 'an http, s3, gs or hf address: of a file, a folder or a repository' }],
  flags: {
    output: { short: 'o', value: '<directory>', description: 'the directory to bring the files to' },
    only: { value: '<glob>', description: 'only files whose path matches, such as "*.safetensors"', repeat: true },
    exclude: { value: '<glob>', description: 'all files but these', repeat: true },
    dryRun: { description: 'list the files and their sizes, and fetch nothing' },
    parallel: { value: '<n>', description: 'how many files are fetched at once (default: 4)', parse: parsePositive },
  },
  omits: ofModelsOnly,
  no: 'a file does not have the digest that the server states',
  examples: [
    ['tare fetch hf://owner/model -o model/', 'a repository of the hub, at its newest commit'],
    ['tare fetch s3://bucket/models/tiny/ -o tiny/ --exclude "*.bin"', 'everything below a prefix, except some files'],
    ['tare fetch https://example.org/model.safetensors.index.json -o model/', 'an index and the files that it names'],
  ],
})

export type FetchOptions = OptionsOf<typeof fetch.flags>
