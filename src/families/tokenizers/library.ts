// Tokenizers of the hub are run by its own library, which is loaded when one is needed.
import type { Config } from '../family.js'
import { refuseTokenizer, type TokenizerFiles, tokenizerFile } from './files.js'

export interface TextCodec {
  /** Ids of a text, without or with the tokens that the post-processor adds. */
  encode(text: string, withSpecials: boolean): readonly number[]
  decode(ids: readonly number[]): string
}

/** What a file need not say. */
const absent = { normalizer: null, pre_tokenizer: null, post_processor: null, decoder: null, added_tokens: [] }

export async function textCodec(tokenizerJson: Config, files: TokenizerFiles): Promise<TextCodec> {
  const { Tokenizer } = await import('@huggingface/tokenizers')
  /** Whatever the library stumbles over is in the file. */
  const guarded = <T>(work: () => T): T => {
    try {
      return work()
    } catch (error) {
      return refuseTokenizer(files.directory, tokenizerFile, 'model', `it cannot be used: ${(error as Error).message}`)
    }
  }
  const tokenizer = guarded(() => new Tokenizer({ ...absent, ...tokenizerJson }, files.tokenizerConfig ?? {}))
  return {
    encode: (text, withSpecials) => guarded(() => tokenizer.encode(text, { add_special_tokens: withSpecials }).ids),
    decode: (ids) => guarded(() => tokenizer.decode([...ids])),
  }
}
