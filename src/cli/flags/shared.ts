// Arguments and options that more than one verb takes, with the same words.
import type { OptionRow } from './flag.js'
import { parseAssignment, parseHeader, parsePositive, parseRange } from './parse-values.js'

/** Every verb takes these; help shows them after its own. */
export const commonOptions: readonly OptionRow[] = [
  { flags: '--json', description: 'one JSON object per input and line, and nothing else on standard output' },
  { flags: '--from <id>', description: 'the format of the input, instead of finding it from the bytes' },
  { flags: '--lenient', description: "accept what the format's own readers accept beyond its document" },
  {
    flags: '--header <name: value>',
    description: 'send this with requests to the origin of an http address',
    repeat: true,
    parse: parseHeader,
  },
  {
    flags: '--remote-parts [where]',
    description: 'fetch files that an index places at other addresses: public ones, or any, also in private networks',
    choices: ['public', 'any'],
    bare: 'public',
  },
  { flags: '--no-cache', description: 'keep nothing of http addresses on disk' },
  { flags: '-q, --quiet', description: 'no progress and no remarks' },
]

export const inputs = { name: '<input...>', description: 'files, directories, http addresses, or - for standard input' }
export const input = { name: '<input>', description: 'a file, directory or http address, or - for standard input' }

export const tensors: OptionRow = {
  flags: '--tensors <glob>',
  description: 'only tensors whose name matches, such as "blk.*.weight"',
  repeat: true,
}
export const threads: OptionRow = {
  flags: '--threads <n>',
  description: 'how many cores large work may use (all of them)',
  parse: parsePositive,
}

export const allowDamage: OptionRow = {
  flags: '--allow-damage',
  description: 'go on although bytes of the input do not have the checksums that it states',
}

// For verbs that make a file.

export const to: OptionRow = {
  flags: '--to <id>',
  description: 'the format of the output, instead of taking it from its name',
}
export const dryRun: OptionRow = { flags: '--dry-run', description: 'show the plan and write nothing' }
export const noOverwrite: OptionRow = {
  flags: '--no-overwrite',
  description: 'fail when the output is there already',
}
export const unset: OptionRow = { flags: '--unset <key>', description: 'remove a metadata entry', repeat: true }

/** Which tensors go into the output. */
export const selectTensors: readonly OptionRow[] = [
  { flags: '--only <glob>', description: 'only these tensors', repeat: true },
  { flags: '--exclude <glob>', description: 'all but these tensors', repeat: true },
]

/** Which of the rest goes with them. */
export const selectParts: readonly OptionRow[] = [
  { flags: '--no-files', description: 'leave out the files that belong to the model: configuration, tokenizer, …' },
  { flags: '--without <part>', description: 'leave out this part, by its name or kind', repeat: true },
]

/** How tensors are quantized; `quantizeSettings` reads them. */
export const quantizeOptions: readonly OptionRow[] = [
  {
    flags: '--tensor-method <glob=method>',
    description: 'quantize these tensors by another method; keep for none',
    repeat: true,
    parse: parseAssignment,
  },
  { flags: '--reference-exact', description: "the reference quantizer's bytes instead of the least error" },
  { flags: '--all-codes', description: 'use the most negative code and scales of either sign too: less error' },
  { flags: '--activations', description: 'int8 and int4 with a zero point, for values that are not centred' },
  { flags: '--clip <min,max>', description: 'cut values to this range before they are quantized', parse: parseRange },
]

// For verbs that work on texts.

export const textArguments = [
  { name: '<model>', description: input.description },
  { name: '[text...]', description: 'texts; put -- before those that begin with a dash' },
]
export const texts: OptionRow = {
  flags: '--file <file>',
  description: 'one text per line of this file, or - for standard input',
}
export const vocab: OptionRow = {
  flags: '--vocab <file>',
  description: 'take the vocabulary from this text file, one token per line',
}
export const cased: OptionRow = {
  flags: '--cased',
  description: 'the model tells capital letters and accents apart (original profile only)',
}
