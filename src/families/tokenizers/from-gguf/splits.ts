// How text is split into words before byte-level BPE, by the names that GGUF has for it. Patterns are applied one after the other, each to
// what the ones before it have made.
import type { Config } from '../../family.js'

export interface SplitRules {
  readonly splits: readonly string[]
  /** A word that is a token stays whole, whatever the merges say. */
  readonly ignoresMerges: boolean
  /** The first token is put before a text unless the file says otherwise. */
  readonly addsBos: boolean
  /** The tokenizers that are called so compose characters first; llama.cpp takes them as they come. */
  readonly isComposed: boolean
}

const spaces = String.raw`\s+(?!\S)|\s+`
const linesAndSpaces = String.raw`\s*[\r\n]+|${spaces}`
const endings = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"

/** The oldest rules, in which only small letters end a word. */
const gpt2 = String.raw`'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|${spaces}`
/** Words with the sign before them, numbers in groups of some digits. */
const words = (digits: string, tail = linesAndSpaces): string =>
  String.raw`${endings}|[^\r\n\p{L}\p{N}]?\p{L}+|${digits}| ?[^\s\p{L}\p{N}]+[\r\n]*|${tail}`
const oneDigit = String.raw`\p{N}`
const threeDigits = String.raw`\p{N}{1,3}`

const upper = String.raw`[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]`
const lower = String.raw`[\p{Ll}\p{Lm}\p{Lo}\p{M}]`
/** Words begin where small letters are followed by a capital. */
const casedWords = (ending: string, digits: string): string =>
  String.raw`[^\r\n\p{L}\p{N}]?${upper}*${lower}+${ending}|[^\r\n\p{L}\p{N}]?${upper}+${lower}*${ending}|${digits}| ?[^\s\p{L}\p{N}]+[\r\n/]*|${linesAndSpaces}`

const eastAsian = '[\u4e00-\u9fa5\u3040-\u309f\u30a0-\u30ff]+'
const deepseek = String.raw`[!"#$%&'()*+,\-./:;<=>?@\[\\\]^_${'`'}{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|${linesAndSpaces}`
const betweenPunctuation = ' ?[^(\\s|.,!?\u2026\u3002\uff0c\u3001\u0964\u06d4\u060c)]+'
const wideSpaces = [512, 256, 128, 64, 32, 16, 8, 4]
  .map((count) => String.raw`\s{${count}}(?!\S)`)
  .concat([String.raw`\s{1,2}(?!\S)`, String.raw`\s{1}`])
  .join('|')

const groups: readonly (readonly [names: string, splits: readonly string[], flags?: string])[] = [
  ['gpt-2 phi-2 jina-es jina-de gigachat jina-v2-es jina-v2-de a.x-4.0 mellum modern-bert exaone4', [gpt2]],
  ['jina-v1-en jina-v2-code roberta-bpe jais trillion granite-docling', [gpt2]],
  ['mpt olmo', [gpt2], 'composed'],
  ['starcoder refact smollm codeshell exaone minerva-7b mellum2', [oneDigit, gpt2]],
  ['command-r', [oneDigit, gpt2], 'composed'],
  ['llama3 llama-v3 llama-bpe falcon3 falcon-h1 pixtral midm-2.0 lfm2 jina-v5-nano', [words(threeDigits)], 'whole bos'],
  ['smaug-bpe', [words(threeDigits)], 'whole'],
  ['dbrx glm4 chatglm-bpe', [words(threeDigits)]],
  ['jais-2', [words(threeDigits, String.raw`\s*[\r\n]+|${wideSpaces}`)]],
  ['qwen2 deepseek-r1-qwen kormo f2llmv2 megrez', [words(oneDigit)], 'composed'],
  ['stablelm2 hunyuan solar-open grok-2', [words(oneDigit)]],
  [
    'qwen35',
    [String.raw`${endings}|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|${linesAndSpaces}`],
    'composed',
  ],
  ['laguna', ['[^\\n]+|[\\n]+', words(oneDigit)]],
  ['minicpm5', [threeDigits, words(String.raw`\p{N}+`)], 'whole'],
  ['seed-coder', [String.raw`${endings}|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1}| ?[^\s\p{L}\p{N}\r\n]+|${linesAndSpaces}`]],
  ['bailingmoe bailingmoe2 llada-moe', [words(oneDigit, String.raw`\s*[\r\n]|${spaces}`)]],
  ['tekken', [casedWords('', oneDigit)], 'whole bos'],
  ['gpt-4o llama4 kanana2 talkie minimax-m2', [casedWords(`${endings}?`, threeDigits)]],
  ['granite-embed-multi-97m', [casedWords(`${endings}?`, threeDigits)], 'whole'],
  ['tiny_aya cohere2moe', [String.raw`\d{1,3}(?=(?:\d{3})*\b)`, casedWords(`${endings}?`, threeDigits)]],
  ['deepseek-v3 hunyuan-dense joyai-llm', [threeDigits, eastAsian, deepseek]],
  [
    'deepseek-coder',
    ['[\\r\\n]', String.raw`\s?\p{L}+`, String.raw`\s?\p{P}+`, '[\u4e00-\u9fa5\u0800-\u4e00\uac00-\ud7ff]+', oneDigit],
  ],
  ['falcon', [String.raw`[\p{P}$+<=>^~|${'`'}]+`, gpt2, '[0-9][0-9][0-9]']],
  ['poro-chat bloom gpt3-finnish', [betweenPunctuation]],
  ['viking', [betweenPunctuation, oneDigit]],
  ['superbpe', [String.raw`\p{N}+`, String.raw`(?=(\d{3})+(?!\d))`]],
  ['default', [String.raw`[\p{P}$+<=>^~|]+`, gpt2, String.raw`\p{N}+`, '[0-9][0-9][0-9]']],
]

const rules: ReadonlyMap<string, SplitRules> = new Map(
  groups.flatMap(([names, splits, flags = '']) => {
    const has = (flag: string): boolean => flags.split(' ').includes(flag)
    const each = { splits, ignoresMerges: has('whole'), addsBos: has('bos'), isComposed: has('composed') }
    return names.split(' ').map((name) => [name, each] as const)
  }),
)

export const splitNames: readonly string[] = [...rules.keys()]

/** The rules as the steps of tokenizer.json. */
export const normalizerOf = ({ isComposed }: SplitRules): Config | null => (isComposed ? { type: 'NFC' } : null)

export const preTokenizerOf = ({ splits }: SplitRules): Config => ({
  type: 'Sequence',
  pretokenizers: [
    ...splits.map((Regex) => ({ type: 'Split', pattern: { Regex }, behavior: 'Isolated', invert: false })),
    { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: false },
  ],
})

export const splitRulesOf = (name: string): SplitRules | undefined => rules.get(name)

/** Every pattern of the table. They are known to take time that grows with the text, and no faster. */
export const knownPatterns: ReadonlySet<string> = new Set(groups.flatMap(([, splits]) => splits))
