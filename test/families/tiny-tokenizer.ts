// A byte-level BPE tokenizer of a few tokens, made up: nobody's vocabulary is needed to test with it.

/** The 256 characters that stand for bytes, as byte-level BPE has them. */
function byteCharacters(): string[] {
  const printable = (byte: number): boolean =>
    (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || (byte >= 174 && byte <= 255)
  let next = 256
  return Array.from({ length: 256 }, (_, byte) => String.fromCodePoint(printable(byte) ? byte : next++))
}

const merges = ['h e', 'l l', 'he ll', 'hell o', 'Ġ w', 'o r', 'Ġw or', 'Ġwor l', 'Ġworl d']
const words = merges.map((merge) => merge.replace(' ', ''))

export const tinyVocabulary: Readonly<Record<string, number>> = Object.fromEntries(
  [...byteCharacters(), ...words].map((token, id) => [token, id]),
)

/** tokenizer.json with two special tokens, and the pattern of GPT-2. */
export const tinyTokenizer = {
  version: '1.0',
  added_tokens: ['<|begin|>', '<|end|>'].map((content, i) => ({
    ...{ id: 265 + i, content, special: true, normalized: false, single_word: false, lstrip: false, rstrip: false },
  })),
  normalizer: null,
  pre_tokenizer: { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: true },
  post_processor: {
    type: 'TemplateProcessing',
    single: [{ SpecialToken: { id: '<|begin|>', type_id: 0 } }, { Sequence: { id: 'A', type_id: 0 } }],
    pair: [{ Sequence: { id: 'A', type_id: 0 } }, { Sequence: { id: 'B', type_id: 1 } }],
    special_tokens: { '<|begin|>': { id: '<|begin|>', ids: [265], tokens: ['<|begin|>'] } },
  },
  decoder: { type: 'ByteLevel', add_prefix_space: true, trim_offsets: true, use_regex: true },
  model: { type: 'BPE', dropout: null, unk_token: null, byte_fallback: false, vocab: tinyVocabulary, merges },
}
