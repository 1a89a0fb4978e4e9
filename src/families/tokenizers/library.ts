// Tokenizers of the hub are run by its own library, which is loaded when one is needed.
import type { Config } from '../family.js'
import { refuseTokenizer, type TokenizerFiles, tokenizerFile } from './files.js'

export interface TextCodec {
  /** Ids of a text, without or with the tokens that the post-processor adds. */
  encode(text: string, withSpecials: boolean): readonly number[]
  decode(ids: readonly number[]): string
}

export async function textCodec(tokenizerJson: Config, files: TokenizerFiles): Promise<TextCodec> {
  const { Tokenizer } = await import('@huggingface/tokenizers')
  try {
    const tokenizer = new Tokenizer(tokenizerJson, files.tokenizerConfig ?? {})
    return {
      encode: (text, withSpecials) => tokenizer.encode(text, { add_special_tokens: withSpecials }).ids,
      decode: (ids) => tokenizer.decode([...ids]),
    }
  } catch (error) {
    return refuseTokenizer(files.directory, tokenizerFile, 'model', `it cannot be used: ${(error as Error).message}`)
  }
}
