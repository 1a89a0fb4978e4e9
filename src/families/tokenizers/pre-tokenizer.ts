// llama.cpp knows how to split text into words for a number of tokenizers, by name. Which one a tokenizer is shows in what it makes of a text
// that was chosen to tell them apart.
import { encodeUtf8, toHex } from '../../bytes/index.js'
import { digestOf } from '../../digest/index.js'
import { callerWord, failWith, usageCodes } from '../../errors/index.js'
import { familyCodes } from '../codes.js'
import type { Config } from '../family.js'
import { type TokenizerFiles, tokenizerFile, tokenText } from './files.js'
import { splitNames } from './from-gguf/splits.js'
import type { TextCodec } from './library.js'
import { libraryClass } from './library-classes.js'
import { preTokenizerNames, probeText } from './pre-tokenizer-names.js'

/** Fails where llama.cpp does not know the name. */
export function checkPreTokenizer(name: string): void {
  const known = [...new Set([...Object.values(preTokenizerNames), ...splitNames])].sort()
  if (known.includes(name)) return
  const message = `${JSON.stringify(name)} is unknown; known are ${known.join(', ')}`
  failWith(usageCodes.option, { file: callerWord('--pre', 'preTokenizer'), message })
}

/** The name that was chosen, or the one that is found. Fails where the tokenizer has none. */
export async function preTokenizerOf(
  files: TokenizerFiles,
  codec: TextCodec,
  idOf: (token: string) => number | undefined,
): Promise<string> {
  if (files.pre !== undefined) return files.pre
  const ids = probe(files, codec, idOf)
  const hash = toHex(await digestOf('sha256', encodeUtf8(`[${ids.join(', ')}]`)))
  const name = Object.hasOwn(preTokenizerNames, hash) ? preTokenizerNames[hash] : undefined
  if (name !== undefined) return name
  const message = `llama.cpp has no name for the way this tokenizer splits text (its fingerprint is ${hash}). If you know that it splits as one of those that have a name, choose that with ${callerWord('--pre NAME', 'preTokenizer: name')}; ${callerWord('--as-is', 'asIs: true')} copies the model without making it run there`
  return failWith(familyCodes['pre-tokenizer'], {
    file: files.directory.pathOf(tokenizerFile),
    path: 'pre_tokenizer',
    message,
  })
}

function probe(
  files: TokenizerFiles,
  codec: TextCodec,
  idOf: (token: string) => number | undefined,
): readonly number[] {
  const config: Config = files.tokenizerConfig ?? {}
  const { ends } = libraryClass(files)
  if (!ends) return codec.encode(probeText, true)
  const end = (kind: 'bos' | 'eos', otherwise: boolean, text: string): readonly number[] => {
    const isAdded = typeof config[`add_${kind}_token`] === 'boolean' ? config[`add_${kind}_token`] === true : otherwise
    const id = isAdded ? idOf(tokenText(config[`${kind}_token`]) ?? text) : undefined
    return id === undefined ? [] : [id]
  }
  const [bos, eos] = ends.defaults
  return [...end('bos', ends.bos, bos), ...codec.encode(probeText, false), ...end('eos', false, eos)]
}
