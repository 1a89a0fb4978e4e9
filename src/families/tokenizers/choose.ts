// Which tokenizer a model has, and the entries that describe it.
import type { ModelConfig } from '../config.js'
import type { ModelDirectory } from '../directory.js'
import { isObject } from '../facts.js'
import type { Config, TokenizerChoice } from '../family.js'
import { bpeEntries, typeCountEntry, wordPieceEntries } from './bpe.js'
import { readTokenizerFiles, refuseTokenizer, type TokenizerFiles, tokenizerFile } from './files.js'
import { hunyuanEntries } from './hunyuan.js'
import { internLm2Entries, internLm3Entries } from './internlm.js'
import { gemma4Entries, isLlamaHf, llamaHfEntries } from './llama-hf.js'
import { prefixEntry, sentencePieceEntries, sentencePieceFile, spacePrefix } from './sentence-piece.js'
import { specialEntries } from './special-tokens.js'
import { t5Entries, unigramEntries } from './unigram.js'
import type { Entry } from './vocabulary.js'

export async function tokenizerEntries(
  directory: ModelDirectory,
  { family, raw, config }: ModelConfig,
  pre?: string,
): Promise<Entry[]> {
  const files = { ...(await readTokenizerFiles(directory, raw)), pre, substitutes: substitutes[family.tokenizer] }
  const { before = {}, after = {} } = family.tokenizerEntries ?? {}
  return [...fixedEntries(before), ...(await ownTokenizer(files, family.tokenizer, config)), ...fixedEntries(after)]
}

const mergeFiles = 'vocab.json with merges.txt'

/** What would do instead of tokenizer.json. */
const substitutes: Readonly<Partial<Record<TokenizerChoice, readonly string[]>>> = {
  llama: [sentencePieceFile, mergeFiles],
  'sentencepiece-or-bpe': [sentencePieceFile, mergeFiles],
  'gemma-3': [sentencePieceFile, mergeFiles],
  'phi-3': [mergeFiles],
  bpe: [mergeFiles],
  wordpiece: ['vocab.txt'],
  'bpe-or-wordpiece': ['vocab.txt'],
  mamba: [sentencePieceFile, mergeFiles],
  'mamba-2': [sentencePieceFile, mergeFiles],
}

const fixedEntries = (stated: Readonly<Record<string, boolean | number>>): Entry[] =>
  Object.entries(stated).map(([key, value]) => [
    `tokenizer.ggml.${key}`,
    typeof value === 'boolean' ? { type: 'bool', value } : { type: 'u32', value },
  ])

async function ownTokenizer(files: TokenizerFiles, choice: TokenizerChoice, config: Config): Promise<Entry[]> {
  const hasModel = await files.directory.has(sentencePieceFile)
  switch (choice) {
    case 'llama':
      return llamaEntries(files, config, hasModel)
    case 'sentencepiece-or-bpe':
      return hasModel ? sentencePieceEntries(files, config) : bpeEntries(files, config)
    case 'sentencepiece':
      return sentencePieceEntries(files, config)
    case 'sentencepiece-with-prefix':
      return [...(await sentencePieceEntries(files, config)), ...prefixEntry(files)]
    case 'internlm-2':
      return internLm2Entries(files, config)
    case 'internlm-3':
      return internLm3Entries(files, config)
    case 'xlm-roberta':
      return unigramEntries(files, config)
    case 'glm': {
      const [end, user] = addedIds(files, '<|endoftext|>', '<|user|>')
      return bpeEntries(files, config, { known: { eos: end!, eot: user!, unk: end!, bos: end! } })
    }
    case 'chatglm': {
      const [end, user] = addedIds(files, '<|endoftext|>', '<|user|>')
      return bpeEntries(files, config, { known: { eos: end!, eot: user!, unk: end! } })
    }
    case 'glm-moe': {
      const [bos, eot, unk, eom] = addedIds(files, '[gMASK]', '<|user|>', '<|endoftext|>', '<|observation|>')
      return bpeEntries(files, config, { known: { bos: bos!, eot: eot!, unk: unk!, eom: eom! } })
    }
    case 'mamba':
      return files.tokenizerJson || !hasModel ? bpeEntries(files, config) : sentencePieceEntries(files, config)
    case 'mamba-2':
      return hasModel ? sentencePieceEntries(files, config) : bpeEntries(files, config)
    case 'jamba':
      return hasModel ? sentencePieceEntries(files, config) : [...(await llamaHfEntries(files)), noSpacePrefix]
    case 't5':
      return t5Entries(files, config)
    case 'nomic':
      return hasPieces(files) ? unigramEntries(files, config) : wordPieceEntries(files, config)
    case 'jina-2': {
      const isRoberta = String(files.tokenizerConfig?.tokenizer_class).startsWith('RobertaTokenizer')
      if (!isRoberta) return wordPieceEntries(files, config)
      return [...(await bpeEntries(files, config)), typeCountEntry({ type_vocab_size: 2 })]
    }
    case 'hunyuan':
      return hunyuanEntries(files, config)
    case 'gemma-1':
      return [...(await sentencePieceEntries(files, config)), ...(await codeEntries(files)), noSpacePrefix]
    case 'gemma-2':
      return [...(await sentencePieceEntries(files, config)), noSpacePrefix]
    case 'gemma-3':
      return hasModel ? [...(await sentencePieceEntries(files, config)), noSpacePrefix] : bpeEntries(files, config)
    case 'gemma-4':
      return gemma4Entries(files)
    case 'phi-3': {
      const isGpt2 = files.tokenizerConfig?.tokenizer_class === 'GPT2Tokenizer'
      return isGpt2 ? bpeEntries(files, config) : sentencePieceEntries(files, config, 'phi-3')
    }
    case 'wordpiece':
      return wordPieceEntries(files, config)
    case 'bpe-or-wordpiece': {
      if (!files.tokenizerJson) return wordPieceEntries(files, config)
      return [...(await bpeEntries(files, config)), typeCountEntry(config)]
    }
    case 'bpe':
      return bpeEntries(files, config)
    case 'plain-bpe':
      return bpeEntries(files, config, { isPlain: true })
    case 'solar': {
      const [end, unk, bos] = addedIds(files, '<|endoftext|>', '<unk>', '<|startoftext|>')
      return bpeEntries(files, config, { known: { eos: end!, eot: end!, unk: unk!, bos: bos! } })
    }
  }
}

const noSpacePrefix: Entry = [spacePrefix, { type: 'bool', value: false }]

/** A text of these models ends where the next turn begins. */
const addedIds = ({ added, directory }: TokenizerFiles, ...texts: readonly string[]): number[] =>
  texts.map(
    (text) =>
      added.find(({ content }) => content === text)?.id ??
      refuseTokenizer(directory, tokenizerFile, 'added_tokens', `there is no ${text}`),
  )

const hasPieces = ({ tokenizerJson }: TokenizerFiles): boolean =>
  isObject(tokenizerJson?.model) && tokenizerJson.model.type === 'Unigram'

async function llamaEntries(files: TokenizerFiles, config: Config, hasModel: boolean): Promise<Entry[]> {
  const entries = prefixEntry(files)
  if (hasModel) entries.push(...(await sentencePieceEntries(files, config)))
  else if (isLlamaHf(files.tokenizerJson)) entries.push(...(await llamaHfEntries(files)))
  else entries.push(...(await bpeEntries(files, config)))
  // Two families are known by the size of their vocabulary: CodeLlama, and the small Granite models.
  if (config.vocab_size === 32016) entries.push(...(await codeLlamaEntries(files)))
  if (config.vocab_size === 49152) entries.push(['tokenizer.ggml.add_bos_token', { type: 'bool', value: false }])
  return entries
}

const codeEntries = (files: TokenizerFiles): Promise<Entry[]> =>
  specialEntries(files, {
    kinds: ['prefix', 'suffix', 'middle', 'fsep', 'eot'],
    known: { eot: 107 },
    withoutTemplate: true,
  })

const codeLlamaEntries = (files: TokenizerFiles): Promise<Entry[]> =>
  specialEntries(files, { kinds: ['prefix', 'suffix', 'middle', 'eot'], known: { eot: 32010 } })
