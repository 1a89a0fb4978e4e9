// Tokenizers of the hub are run by its own library, which is loaded when one is needed.
import type { Config } from '../family.js'
import { checkTokenizer, type Refuse } from './check-tokenizer.js'

export interface TextCodec {
  /** Ids of a text, without or with the tokens that the post-processor adds. */
  encode(text: string, withSpecials: boolean): readonly number[]
  /** The text of ids; unknown ids are skipped. */
  decode(ids: readonly number[], withoutSpecials?: boolean): string
  /** The text of one token, as the vocabulary has it. */
  token(id: number): string | undefined
}

/** What a file need not say. */
const absent = { normalizer: null, pre_tokenizer: null, post_processor: null, decoder: null, added_tokens: [] }

/** Refuses what cannot be run, or must not be. */
export async function textCodec(tokenizerJson: Config, config: Config | undefined, refuse: Refuse): Promise<TextCodec> {
  checkTokenizer(tokenizerJson, refuse)
  const { Tokenizer } = await import('@huggingface/tokenizers')
  /** Whatever the library stumbles over is in the file. */
  const guarded = <T>(work: () => T): T => {
    try {
      return work()
    } catch (error) {
      return refuse('model', `it cannot be used: ${(error as Error).message}`)
    }
  }
  const tokenizer = guarded(() => new Tokenizer({ ...absent, ...tokenizerJson }, config ?? {}))
  return {
    encode: (text, withSpecials) => guarded(() => tokenizer.encode(text, { add_special_tokens: withSpecials }).ids),
    decode: (ids, withoutSpecials = false) =>
      guarded(() => {
        const known = ids.filter((id) => tokenizer.id_to_token(id) !== undefined)
        return known.length === 0 ? '' : tokenizer.decode(known, { skip_special_tokens: withoutSpecials })
      }),
    token: (id) => tokenizer.id_to_token(id),
  }
}
