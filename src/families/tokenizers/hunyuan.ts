// HunYuan has BPE whose ends of texts and turns are not what the tokenizer says: the former is stated in config.json, the latter among the
// ends in generation_config.json.
import type { Config } from '../family.js'
import { bpeEntries } from './bpe.js'
import { isId, refuseTokenizer, type TokenizerFiles } from './files.js'
import { commonKinds, idKeys } from './special-tokens.js'
import type { Entry } from './vocabulary.js'

const generationFile = 'generation_config.json'

export async function hunyuanEntries(files: TokenizerFiles, config: Config): Promise<Entry[]> {
  const hasNoPadding = typeof config.pad_token_id === 'number' && config.pad_token_id < 0
  const kinds = hasNoPadding ? commonKinds.filter((kind) => kind !== 'pad') : undefined
  const entries = await bpeEntries(files, config, { kinds })
  const put = (kind: 'eos' | 'eot', id: unknown, file: string, path: string): void => {
    if (!isId(id)) refuseTokenizer(files.directory, file, path, `${JSON.stringify(id)} is not the id of a token`)
    else entries.push([`tokenizer.ggml.${idKeys[kind]}`, { type: 'u32', value: id }])
  }
  if (config.eod_token_id != null) put('eos', config.eod_token_id, 'config.json', 'eod_token_id')
  const ends = (await files.directory.json(generationFile))?.eos_token_id
  if (Array.isArray(ends) && ends.length > 1 && ends[0] !== null) put('eot', ends[0], generationFile, 'eos_token_id[0]')
  return entries
}
