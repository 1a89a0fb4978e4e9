// The tokenizer files of a directory, read once.
import { callerWord, failWith } from '../../errors/index.js'
import { familyCodes } from '../codes.js'
import type { ModelDirectory } from '../directory.js'
import { isObject } from '../facts.js'
import type { Config } from '../family.js'

export interface AddedToken {
  readonly id: number
  readonly content: string
  readonly special: boolean
  readonly normalized: boolean
}

export interface TokenizerFiles {
  readonly directory: ModelDirectory
  /** config.json as it is. */
  readonly raw: Config
  readonly tokenizerJson: Config | undefined
  readonly tokenizerConfig: Config | undefined
  readonly added: readonly AddedToken[]
  /** What would do instead of tokenizer.json, for the message that nothing is there. */
  readonly substitutes?: readonly string[] | undefined
  /** What llama.cpp calls the way in which text is split, where that is stated. */
  readonly pre?: string | undefined
}

export const tokenizerFile = 'tokenizer.json'
export const tokenizerConfigFile = 'tokenizer_config.json'

export async function readTokenizerFiles(directory: ModelDirectory, raw: Config): Promise<TokenizerFiles> {
  const tokenizerJson = await directory.json(tokenizerFile)
  const stated = await directory.json(tokenizerConfigFile)
  // One that says nothing counts as none.
  const tokenizerConfig = stated && Object.keys(stated).length > 0 ? stated : undefined
  const added = addedTokens(tokenizerJson?.added_tokens, directory)
  return { directory, raw, tokenizerJson, tokenizerConfig, added }
}

export function addedTokens(stated: unknown, directory: ModelDirectory): AddedToken[] {
  if (stated == null) return []
  if (!Array.isArray(stated)) return refuseTokenizer(directory, tokenizerFile, 'added_tokens', 'a list was expected')
  return stated.map((token, i) => {
    const { id, content, special, normalized } = isObject(token) ? token : {}
    if (isId(id) && typeof content === 'string')
      return { id, content, special: special === true, normalized: normalized === true }
    return refuseTokenizer(directory, tokenizerFile, `added_tokens[${i}]`, 'an id and a content were expected')
  })
}

export const isId = (value: unknown): value is number =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0 && value < 2 ** 31

export function refuseTokenizer(directory: ModelDirectory, file: string, path: string, message: string): never {
  return failWith(familyCodes.tokenizer, { file: directory.pathOf(file), path, message })
}

/** `names`: each of them would do. */
export function missingTokenizer(directory: ModelDirectory, ...names: readonly string[]): never {
  const wanted = `${names.slice(0, -1).join(', ')}${names.length > 1 ? ' or ' : ''}${names.at(-1)}`
  const message = `${wanted} was expected beside the weights: copy it there from where the model was published; ${callerWord('--as-is', 'asIs: true')} copies the tensors under their own names, without a tokenizer`
  return failWith(familyCodes['tokenizer-missing'], { file: directory.pathOf(names[0]!), message })
}

/** The text of a special token, which is stated as text or as an object. */
export function tokenText(stated: unknown): string | undefined {
  if (typeof stated === 'string') return stated
  return isObject(stated) && typeof stated.content === 'string' ? stated.content : undefined
}

/** Some published tokens that control the model are not marked as such. */
export const looksSpecial = (token: string): boolean =>
  ['<pad>', '<mask>', '<2mass>', '[@BOS@]'].includes(token) ||
  (token.startsWith('<|') && token.endsWith('|>')) ||
  (token.startsWith('<｜') && token.endsWith('｜>')) ||
  (token.startsWith('<unused') && token.endsWith('>'))
