// Old tokenizers are a vocabulary and a list of merges in files of their own. The same, as tokenizer.json would say it.

import type { Config } from '../family.js'
import { type TokenizerFiles, tokenText } from './files.js'

/** Undefined where the files are not there. */
export async function synthesizedTokenizer(files: TokenizerFiles): Promise<Config | undefined> {
  return (await byteLevelBpe(files)) ?? (await wordPiece(files))
}

async function byteLevelBpe({ directory, tokenizerConfig }: TokenizerFiles): Promise<Config | undefined> {
  const vocab = await directory.json('vocab.json')
  const text = vocab && (await directory.text('merges.txt'))
  if (!vocab || text === undefined) return undefined
  const lines = text.split('\n').filter((line, i) => line.trim() !== '' && !(i === 0 && line.startsWith('#')))
  const byteLevel = {
    type: 'ByteLevel',
    add_prefix_space: tokenizerConfig?.add_prefix_space === true,
    trim_offsets: true,
    use_regex: true,
  }
  return {
    added_tokens: [],
    normalizer: null,
    pre_tokenizer: byteLevel,
    post_processor: { ...byteLevel, add_prefix_space: true, trim_offsets: false },
    decoder: { ...byteLevel, add_prefix_space: true },
    model: { type: 'BPE', vocab, merges: lines.map((line) => line.trim()), unk_token: null, byte_fallback: false },
  }
}

async function wordPiece({ directory, tokenizerConfig: config }: TokenizerFiles): Promise<Config | undefined> {
  const text = await directory.text('vocab.txt')
  if (text === undefined) return undefined
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  const vocab = Object.fromEntries(lines.map((line, id) => [line.replace(/\r$/, ''), id]))
  const piece = (kind: string, otherwise: string): string => tokenText(config?.[`${kind}_token`]) ?? otherwise
  const [cls, sep] = [piece('cls', '[CLS]'), piece('sep', '[SEP]')]
  const special = (id: string, type_id: number): Config => ({ SpecialToken: { id, type_id } })
  const sequence = (id: string, type_id: number): Config => ({ Sequence: { id, type_id } })
  return {
    added_tokens: [],
    normalizer: {
      type: 'BertNormalizer',
      clean_text: true,
      handle_chinese_chars: config?.tokenize_chinese_chars !== false,
      strip_accents: config?.strip_accents ?? null,
      lowercase: config?.do_lower_case !== false,
    },
    pre_tokenizer: { type: 'BertPreTokenizer' },
    post_processor: {
      type: 'TemplateProcessing',
      single: [special(cls, 0), sequence('A', 0), special(sep, 0)],
      pair: [special(cls, 0), sequence('A', 0), special(sep, 0), sequence('B', 1), special(sep, 1)],
      special_tokens: Object.fromEntries([cls, sep].map((id) => [id, { id, ids: [vocab[id]], tokens: [id] }])),
    },
    decoder: { type: 'WordPiece', prefix: '##', cleanup: true },
    model: {
      type: 'WordPiece',
      vocab,
      unk_token: piece('unk', '[UNK]'),
      continuing_subword_prefix: '##',
      max_input_chars_per_word: 100,
    },
  }
}
