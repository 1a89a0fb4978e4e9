// Tokenizers of a few tokens.
import { type TinyOptions, withoutBytes } from '../tiny-model.js'
import type { Variant } from './shapes.js'

const added = (id: number, content: string) => ({
  ...{ id, content, special: true, normalized: false, single_word: false, lstrip: false, rstrip: false },
})
const letters = ['a', 'b', 'c', 'd', 'ab', 'cd']
const byteLevel = { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: true }

const splitAs = (name: string): string => JSON.stringify({ set: { 'tokenizer.ggml.pre': ['str', name] } })

const bpeWith = (pre: string, more: readonly string[] = []) => ({
  'tokenizer.model': null,
  'gguf.json': splitAs(pre),
  'tokenizer_config.json': JSON.stringify({ bos_token: '<s>', eos_token: '</s>', tokenizer_class: 'GPT2Tokenizer' }),
  'tokenizer.json': JSON.stringify({
    added_tokens: [
      ...[added(1, '<s>'), added(2, '</s>'), added(9, '<|endoftext|>'), added(10, '<|user|>')],
      ...[added(11, '[gMASK]'), added(12, '<|observation|>')],
      ...more.map((token, i) => added(13 + i, token)),
    ],
    pre_tokenizer: byteLevel,
    decoder: byteLevel,
    model: {
      type: 'BPE',
      vocab: Object.fromEntries(
        ['!', '<s>', '</s>', ...letters, '<|endoftext|>', '<|user|>', '[gMASK]', '<|observation|>'].map((token, id) => [
          token,
          id,
        ]),
      ),
      merges: ['a b', 'c d'],
    },
  }),
})
const bpe = bpeWith('gpt-2')

/** A tokenizer of a few tokens, which llama.cpp has no name for, and which is therefore given one. */
export const tokenizerFiles: Readonly<Record<Variant['tokenizer'], TinyOptions['files']>> = {
  sentencepiece: { 'tokenizer.model': withoutBytes() },
  bpe,
  glm: bpeWith('glm4'),
  solar: bpeWith('solar-open', ['<unk>', '<|startoftext|>']),
  'gemma-4': {
    'tokenizer.model': null,
    'tokenizer_config.json': JSON.stringify({
      ...{ bos_token: '<bos>', eos_token: '<eos>', unk_token: '<unk>', pad_token: '<pad>' },
      ...{ additional_special_tokens: ['<|tool>'], tokenizer_class: 'GemmaTokenizer' },
    }),
    'tokenizer.json': JSON.stringify({
      added_tokens: ['<pad>', '<eos>', '<bos>', '<unk>', '<|tool>', '<|channel>', '<unused0>'].map((content, id) =>
        added(id, content),
      ),
      normalizer: { type: 'Replace', pattern: { String: ' ' }, content: '\u2581' },
      pre_tokenizer: {
        ...{ type: 'Split', pattern: { String: ' ' }, behavior: 'MergedWithPrevious', invert: false },
      },
      decoder: {
        type: 'Sequence',
        decoders: [
          { type: 'Replace', pattern: { String: '\u2581' }, content: ' ' },
          { type: 'ByteFallback' },
          { type: 'Fuse' },
        ],
      },
      model: {
        type: 'BPE',
        unk_token: '<unk>',
        fuse_unk: true,
        byte_fallback: true,
        ignore_merges: false,
        vocab: Object.fromEntries(
          [
            ...['<pad>', '<eos>', '<bos>', '<unk>', '<|tool>', '<|channel>', '<unused0>', '<0x41>', '\u2581'],
            ...letters,
          ].map((token, id) => [token, id]),
        ),
        merges: [
          ['a', 'b'],
          ['c', 'd'],
        ],
      },
    }),
  },
  unigram: {
    'tokenizer.model': null,
    'tokenizer_config.json': JSON.stringify({
      bos_token: '<s>',
      eos_token: '</s>',
      unk_token: '<unk>',
      pad_token: '<pad>',
      tokenizer_class: 'XLMRobertaTokenizer',
    }),
    'tokenizer.json': JSON.stringify({
      added_tokens: ['<s>', '<pad>', '</s>', '<unk>'].map((content, id) => added(id, content)),
      normalizer: { type: 'Precompiled', precompiled_charsmap: btoa('\0\0\0\0') },
      pre_tokenizer: { type: 'Metaspace', replacement: '\u2581', prepend_scheme: 'always' },
      decoder: { type: 'Metaspace', replacement: '\u2581', prepend_scheme: 'always' },
      model: {
        type: 'Unigram',
        unk_id: 3,
        vocab: ['<s>', '<pad>', '</s>', '<unk>', ...letters].map((token, id) => [token, id < 4 ? 0 : -id]),
      },
    }),
  },
  wordpiece: {
    'tokenizer.model': null,
    'gguf.json': JSON.stringify({ set: { 'tokenizer.ggml.pre': ['str', 'jina-v2-en'] } }),
    'tokenizer_config.json': JSON.stringify({ do_lower_case: true, tokenizer_class: 'BertTokenizer' }),
    'vocab.txt': ['[PAD]', '[UNK]', '[CLS]', '[SEP]', '[MASK]', 'a', '##b', 'c'].join('\n'),
  },
}
