// Arguments and flags that several verbs take, with the same words.
import { defineFlag, defineFlags, type Flags } from './flag.js'
import { parseAssignment, parseHeader, parseList, parsePositive } from './parse-values.js'

/** Verbs take these unless they say otherwise; help lists them after their own. */
export const commonFlags = defineFlags({
  json: { group: 'Output', description: 'one line of JSON per input, and nothing else on standard output' },
  from: {
    group: 'Input',
    value: '<id>',
    description: 'the format of the input; without this it is detected from the bytes',
  },
  lenient: {
    group: 'Input',
    description: "also accept files that break the format's specification in ways that its own readers tolerate",
  },
  header: {
    group: 'Remote',
    value: '<name: value>',
    description: 'send this header to the origin of an http address',
    repeat: true,
    parse: parseHeader,
  },
  remoteParts: {
    group: 'Remote',
    value: '[where]',
    description:
      'also fetch files that an index places on other servers: public (default), or any, including private networks',
    choices: ['public', 'any'],
    bare: 'public',
  },
  cache: { group: 'Remote', negated: 'do not cache remote files on disk' },
  color: {
    group: 'Output',
    value: '<when>',
    description: 'colours: auto (on a terminal, unless NO_COLOR is set), always or never',
    choices: ['auto', 'always', 'never'],
  },
  quiet: { group: 'Output', short: 'q', description: 'no progress and no notes' },
})

/** What a verb says about its flags. */
export interface Flagged<F extends Flags = Flags> {
  readonly flags: F
  /** Flags that nearly every verb takes, and this one has no use for. */
  readonly omits?: readonly (keyof typeof commonFlags)[]
}

/** For verbs whose input is a job: the job file says how its inputs are opened. */
export const ofModelsOnly = ['from', 'lenient', 'remoteParts'] as const

/** For verbs that read local files, whatever is in them. */
export const ofInputsOnly = [...ofModelsOnly, 'header', 'cache'] as const

/** For verbs whose answer is a table. */
export const tableFlags = defineFlags({
  format: {
    group: 'Output',
    value: '<form>',
    description: 'print only the table, for other programs: csv, tsv or md (default: table)',
    choices: ['table', 'csv', 'tsv', 'md'],
  },
  columns: {
    group: 'Output',
    value: '<names>',
    description: 'only these columns, in this order, such as name,size',
    parse: parseList,
  },
})

export const inputs = {
  name: '<input...>',
  description: 'files, directories, addresses (http, s3, gs, hf), or - for standard input',
}
export const input = {
  name: '<input>',
  description: 'a file, a directory, an address (http, s3, gs, hf), or - for standard input',
}

export const tensors = defineFlag({
  value: '<glob>',
  description: 'only tensors whose name matches, such as "blk.*.weight"',
  repeat: true,
})
export const recursive = defineFlag({
  short: 'r',
  description: 'every model below the given directories',
})
export const threads = defineFlag({
  group: 'Output',
  value: '<n>',
  description: 'maximum number of cores to use (default: all)',
  parse: parsePositive,
})
export const workers = defineFlag({
  group: 'Output',
  value: '<queue>',
  description: 'have the workers of this queue read the weights, such as nats://host:4222 (tare worker serves it)',
})
export const allowDamage = defineFlag({
  group: 'Input',
  description: 'continue even if bytes of the input do not match its checksums',
})

// For verbs that write files.

export const output = (description: string) => defineFlag({ short: 'o', value: '<file>', description })
export const to = defineFlag({
  value: '<id>',
  description: 'the format of the output; without this its name decides',
})
export const dryRun = defineFlag({ description: 'show the plan; write nothing' })
export const resume = defineFlag({
  group: 'Output',
  description: 'to an s3 address: continue an interrupted upload; if this one is interrupted, keep what was uploaded',
})
export const overwrite = defineFlag({ group: 'Output', negated: 'fail if the output already exists' })
export const set = defineFlag({
  group: 'Metadata and files',
  value: '<key=value>',
  description:
    'set a metadata entry; key:u32=4 or key:[u32]=1,2,3 gives it a type (u8 to u64, i8 to i64, f32, f64, bool, str). Without one, an existing entry keeps its type and a new one is text',
  repeat: true,
  parse: parseAssignment,
})
export const unset = defineFlag({
  group: 'Metadata and files',
  value: '<key>',
  description: 'remove a metadata entry',
  repeat: true,
})
export const allowLoss = (description: string) =>
  defineFlag({ value: '[level]', description, choices: ['none', 'precision', 'all'], bare: 'all' })

/** Which tensors go into the output. */
export const selectTensors = defineFlags({
  only: { group: 'Tensors', value: '<glob>', description: 'only these tensors', repeat: true },
  exclude: { group: 'Tensors', value: '<glob>', description: 'leave out these tensors', repeat: true },
})

/** Which of the rest goes with them. */
export const selectParts = defineFlags({
  files: {
    group: 'Metadata and files',
    negated: 'leave out the files that belong to the model: configuration, tokenizer, …',
  },
  without: {
    group: 'Metadata and files',
    value: '<part>',
    description: 'leave out this part, by its name or kind',
    repeat: true,
  },
})

// For verbs that work on texts.

export const textArguments = [
  { name: '<model>', description: input.description },
  { name: '[text...]', description: 'texts; put -- before a text that begins with a dash' },
]
export const file = defineFlag({
  value: '<file>',
  description: 'one text per line of this file, or - for standard input',
})
export const vocab = defineFlag({
  value: '<file>',
  description: 'read the vocabulary from this text file, one token per line',
})
export const cased = defineFlag({
  description: 'keep capital letters and accents (original profile only)',
})
