// Which tokenizer a model has, and the entries that describe it.
import type { ModelConfig } from '../config.js'
import type { ModelDirectory } from '../directory.js'
import type { Config } from '../family.js'
import { bpeEntries, typeCountEntry, wordPieceEntries } from './bpe.js'
import { readTokenizerFiles, type TokenizerFiles } from './files.js'
import { isLlamaHf, llamaHfEntries } from './llama-hf.js'
import { sentencePieceEntries, sentencePieceFile } from './sentence-piece.js'
import { specialEntries } from './special-tokens.js'
import type { Entry } from './vocabulary.js'

export async function tokenizerEntries(
  directory: ModelDirectory,
  { family, raw, config }: ModelConfig,
  pre?: string,
): Promise<Entry[]> {
  const files = { ...(await readTokenizerFiles(directory, raw)), pre }
  const hasModel = await directory.has(sentencePieceFile)
  switch (family.tokenizer) {
    case 'llama':
      return llamaEntries(files, config, hasModel)
    case 'sentencepiece-or-bpe':
      return hasModel ? sentencePieceEntries(files, config) : bpeEntries(files, config)
    case 'sentencepiece':
      return sentencePieceEntries(files, config)
    case 'gemma-1':
      return [...(await sentencePieceEntries(files, config)), ...(await codeEntries(files)), noSpacePrefix]
    case 'gemma-2':
      return [...(await sentencePieceEntries(files, config)), noSpacePrefix]
    case 'gemma-3':
      return hasModel ? [...(await sentencePieceEntries(files, config)), noSpacePrefix] : bpeEntries(files, config)
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
  }
}

const spacePrefix = 'tokenizer.ggml.add_space_prefix'
const noSpacePrefix: Entry = [spacePrefix, { type: 'bool', value: false }]

async function llamaEntries(files: TokenizerFiles, config: Config, hasModel: boolean): Promise<Entry[]> {
  const prefix = files.tokenizerConfig?.add_prefix_space
  const entries: Entry[] = typeof prefix === 'boolean' ? [[spacePrefix, { type: 'bool', value: prefix }]] : []
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
