// Which files a tokenizer becomes.
import type { Metadata } from '../../../model/index.js'
import type { Family } from '../../family.js'
import { publishBpe, publishWordPiece } from './byte-level.js'
import { publishSentencePiece } from './sentence-piece.js'
import { type PublishedTokenizer, readTokenizer, refuseKey } from './source.js'
import { publishUnigram } from './unigram.js'

/** Undefined where the file has no tokenizer. */
export function publishTokenizer(
  metadata: Metadata,
  { tokenizer }: Family,
  file: string,
): PublishedTokenizer | undefined {
  const source = readTokenizer(metadata, tokenizer, file)
  if (!source) return undefined
  switch (source.model) {
    case 'gpt2':
      return publishBpe(source)
    case 'llama':
      return publishSentencePiece(source)
    case 'bert':
      return publishWordPiece(source)
    case 't5':
      return publishUnigram(source)
    default: {
      const message = `${JSON.stringify(source.model)} is not a kind of tokenizer that can be written; gpt2 (BPE), llama (SentencePiece), t5 (Unigram) and bert (WordPiece) can`
      return refuseKey(file, 'tokenizer.ggml.model', message)
    }
  }
}
