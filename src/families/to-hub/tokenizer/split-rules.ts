// How text is split into words before it becomes tokens, by the names that llama.cpp has for it.
import type { Config } from '../../family.js'

export interface SplitRules {
  readonly normalizer: Config | null
  readonly preTokenizer: Config
  /** Words that are tokens are taken whole. */
  readonly ignoresMerges: boolean
}

const byteLevel = (withRegex: boolean): Config => ({
  type: 'ByteLevel',
  add_prefix_space: false,
  trim_offsets: true,
  use_regex: withRegex,
})
const split = (regex: string): Config => ({
  type: 'Split',
  pattern: { Regex: regex },
  behavior: 'Isolated',
  invert: false,
})
const sequence = (...pretokenizers: readonly Config[]): Config => ({ type: 'Sequence', pretokenizers })
const digits = (individual: boolean): Config => ({ type: 'Digits', individual_digits: individual })

interface Options {
  readonly nfc?: true
  readonly ignoresMerges?: true
}

const rules = (preTokenizer: Config, { nfc, ignoresMerges }: Options = {}): SplitRules => ({
  normalizer: nfc ? { type: 'NFC' } : null,
  preTokenizer,
  ignoresMerges: ignoresMerges === true,
})

/** Contractions, words, numbers, punctuation and spaces; what a number is, differs. */
const words = (number: string): string =>
  `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|${number}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+`
/** The same with words that are split where a capital follows a small letter. */
const casedWords = (ending: string, number: string): string => {
  const [start, upper, lower] = [
    '[^\\r\\n\\p{L}\\p{N}]?',
    '[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]',
    '[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]',
  ]
  return `${start}${upper}*${lower}+${ending}|${start}${upper}+${lower}*${ending}|${number}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+`
}

const upToThree = '\\p{N}{1,3}'
const gpt2 = rules(byteLevel(true))
const llama3 = sequence(split(words(upToThree)), byteLevel(false))
const qwen2 = sequence(split(words('\\p{N}')), byteLevel(false))
const gpt4o = sequence(split(casedWords("(?i:'s|'t|'re|'ve|'m|'ll|'d)?", upToThree)), byteLevel(false))
const singleDigits = rules(sequence(digits(true), byteLevel(true)))
const deepseek3 = rules(
  sequence(
    split(upToThree),
    split('[一-龥\u3040-ゟ゠-ヿ]+'),
    split(
      '[!"#$%&\'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~][A-Za-z]+|[^\r\n\\p{L}\\p{P}\\p{S}]?[\\p{L}\\p{M}]+| ?[\\p{P}\\p{S}]+[\r\n]*|\\s*[\r\n]+|\\s+(?!\\S)|\\s+',
    ),
    byteLevel(false),
  ),
)

/** By the name of the pre-tokenizer. */
const known: Readonly<Record<string, SplitRules>> = {
  default: gpt2,
  'gpt-2': gpt2,
  'phi-2': gpt2,
  olmo: gpt2,
  jais: gpt2,
  'roberta-bpe': gpt2,
  'modern-bert': gpt2,
  'jina-v1-en': gpt2,
  'jina-v2-code': gpt2,
  'jina-v2-de': gpt2,
  'jina-v2-es': gpt2,
  'llama-bpe': rules(llama3, { ignoresMerges: true }),
  'smaug-bpe': rules(llama3, { ignoresMerges: true }),
  dbrx: rules(llama3),
  glm4: rules(llama3),
  'chatglm-bpe': rules(llama3),
  qwen2: rules(qwen2, { nfc: true }),
  'deepseek-r1-qwen': rules(qwen2, { nfc: true }),
  megrez: rules(qwen2, { nfc: true }),
  stablelm2: rules(qwen2),
  tekken: rules(sequence(split(casedWords('', '\\p{N}')), byteLevel(false)), { ignoresMerges: true }),
  'gpt-4o': rules(gpt4o),
  llama4: rules(gpt4o),
  'deepseek-v3': deepseek3,
  'joyai-llm': deepseek3,
  'command-r': { ...singleDigits, normalizer: { type: 'NFC' } },
  starcoder: singleDigits,
  refact: singleDigits,
  smollm: singleDigits,
  codeshell: singleDigits,
  exaone: singleDigits,
  falcon: rules(
    sequence({ type: 'Punctuation', behavior: 'Contiguous' }, byteLevel(true), digits(false), split('[0-9][0-9][0-9]')),
  ),
  bloom: rules(sequence(split(' ?[^(\\s|[.,!?…。，、।۔،])]+'), byteLevel(false))),
}

/** Undefined where the name is not known. */
export const splitRulesFor = (name: string): SplitRules | undefined =>
  Object.hasOwn(known, name) ? known[name] : undefined

export const knownSplits: readonly string[] = Object.keys(known)
