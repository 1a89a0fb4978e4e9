// The tokens beside the vocabulary, as the transformers library has them when it has opened a tokenizer: those that tokenizer.json lists, and
// those that only the other files name, which get the next ids. llama.cpp's converter lists the tokens that the library has.
import { isObject } from '../facts.js'
import type { Config } from '../family.js'
import { type AddedToken, isId, type TokenizerFiles, tokenText } from './files.js'
import { libraryClass } from './library-classes.js'
import { commonKinds } from './special-tokens.js'

/** A token as a file states it: without an id that counts. */
interface Stated {
  readonly content: string
  readonly special: boolean
  readonly normalized: boolean
  readonly lstrip: boolean
  readonly rstrip: boolean
  readonly single_word: boolean
}

export interface AddedTokens {
  /** With the flags that tokenizer.json has. */
  readonly added: readonly (Stated & AddedToken)[]
  /** Ids from here on are of tokens that tokenizer.json does not have. */
  readonly listed: number
  readonly specials: ReadonlySet<string>
}

export async function addedTokensOf(
  files: TokenizerFiles,
  tokenizer: Config,
  vocabulary: ReadonlyMap<string, number>,
): Promise<AddedTokens> {
  const all = new TokensBesides(vocabulary)
  for (const each of listOf(tokenizer.added_tokens)) all.add(tokenOf(each))
  const listed = all.next
  const { decoder, specials } = await statedTokens(files, tokenizer)
  const texts = new Set(specials.map(textOf))
  const more = decoder.filter((token) => !all.has(token))
  const known = new Set([...all.contents(), ...more.map(({ content }) => content)])
  const stated = new Set(more.map(keyOf))
  // A token that is stated with its flags replaces the one that is there, a mere text does not.
  for (const special of specials) {
    if (typeof special === 'string') {
      if (!known.has(special)) more.push(plain(special, true))
    } else if (!stated.has(keyOf(special))) more.push(special)
  }
  for (const token of more) all.add({ ...token, special: token.special || texts.has(token.content) })
  return { added: all.list(), listed, specials: texts }
}

/** The same as the tokenizer.json of a tokenizer that lists all of them. */
export async function withAddedTokens(files: TokenizerFiles, tokenizer: Config): Promise<Config> {
  const { model } = tokenizer
  const vocab = isObject(model) && isObject(model.vocab) ? Object.entries(model.vocab) : []
  const vocabulary = new Map(vocab.filter((each): each is [string, number] => isId(each[1])))
  return vocabulary.size === 0
    ? tokenizer
    : { ...tokenizer, added_tokens: (await addedTokensOf(files, tokenizer, vocabulary)).added }
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

const plain = (content: string, special: boolean): Stated => ({
  content,
  special,
  normalized: !special,
  lstrip: false,
  rstrip: false,
  single_word: false,
})

function tokenOf(stated: unknown, isSpecial = false): Stated {
  const { special = isSpecial, normalized = !special, lstrip, rstrip, single_word } = isObject(stated) ? stated : {}
  return {
    content: tokenText(stated) ?? '',
    special: special === true,
    normalized: normalized === true,
    lstrip: lstrip === true,
    rstrip: rstrip === true,
    single_word: single_word === true,
  }
}

const flags = ['special', 'normalized', 'lstrip', 'rstrip', 'single_word'] as const
/** Equal for tokens that have the same text and flags. */
const keyOf = (token: Stated): string => JSON.stringify([token.content, ...flags.map((flag) => token[flag])])

/** The ids that files state do not count: a token has that of the vocabulary, or the next one. */
class TokensBesides {
  readonly #vocabulary: ReadonlyMap<string, number>
  readonly #ids = new Map<string, number>()
  readonly #tokens = new Map<number, Stated>()
  #max = -1

  constructor(vocabulary: ReadonlyMap<string, number>) {
    this.#vocabulary = vocabulary
  }

  get next(): number {
    return Math.max(this.#max + 1, this.#vocabulary.size)
  }

  has(token: Stated): boolean {
    const known = this.#tokens.get(this.#ids.get(token.content) ?? -1)
    return known !== undefined && keyOf(known) === keyOf(token)
  }

  add(token: Stated): void {
    if (token.content === '' || this.has(token)) return
    const id = this.#ids.get(token.content) ?? this.#vocabulary.get(token.content) ?? this.next
    this.#ids.set(token.content, id)
    this.#tokens.set(id, token)
    this.#max = Math.max(this.#max, id)
  }

  contents(): Iterable<string> {
    return this.#ids.keys()
  }

  list(): (Stated & AddedToken)[] {
    return [...this.#tokens].map(([id, token]) => ({ id, ...token })).sort((a, b) => a.id - b.id)
  }
}

/** Special tokens in the library's order, as a text or with flags, and the other tokens that files name. */
async function statedTokens(
  files: TokenizerFiles,
  tokenizer: Config,
): Promise<{ readonly decoder: Stated[]; readonly specials: readonly (string | Stated)[] }> {
  const { tokenizerConfig = {}, directory } = files
  const { specials: defaults, more = [], marks } = libraryClass(files)
  const padding = isObject(tokenizer.padding) ? tokenizer.padding.pad_token : undefined
  const settings: Record<string, unknown> = { ...tokenizerConfig }
  const byText = new Map<string, Stated>()
  let decoder: Stated[] = []
  if (isObject(tokenizerConfig.added_tokens_decoder)) {
    // In the order of the ids.
    decoder = Object.values(tokenizerConfig.added_tokens_decoder).map((each) => tokenOf(each))
    for (const token of decoder) byText.set(token.content, token)
  } else {
    const map = (await directory.json('special_tokens_map.json')) ?? {}
    for (const [key, value] of Object.entries(map)) {
      const known = key === additional ? listOf(settings[key]) : []
      settings[key] = key === additional ? [...new Set([...known, ...listOf(value)])] : value
    }
    const texts = new Set(commonKinds.map((kind) => tokenText(settings[`${kind}_token`])))
    for (const each of listOf(settings[additional])) texts.add(tokenText(each))
    const names = Object.entries((await directory.json('added_tokens.json')) ?? {})
    decoder = names
      .filter(([, id]) => isId(id))
      .sort(([, a], [, b]) => Number(a) - Number(b))
      .map(([content]) => plain(content, texts.has(content)))
    for (const token of [...decoder, ...listOf(tokenizer.added_tokens).map((each) => tokenOf(each))])
      byText.set(token.content, token)
  }
  const specials: (string | Stated)[] = []
  const seen = new Set<string>()
  const put = (value: unknown, hasKind = false): void => {
    const content = tokenText(value)
    if (content === undefined || content === '' || seen.has(content)) return
    seen.add(content)
    const flagged = byText.get(content) ?? (typeof value === 'string' ? undefined : tokenOf(value, true))
    specials.push(flagged ?? (hasKind && marks ? plain(content, true) : content))
  }
  for (const kind of commonKinds) {
    const key = `${kind}_token`
    put(key in settings ? settings[key] : ((kind === 'pad' ? padding : undefined) ?? defaults[kind]), true)
  }
  for (const each of [...listOf(settings[additional]), ...more]) put(each)
  const own = settings.extra_special_tokens
  for (const each of Object.values(isObject(own) ? own : {})) put(each)
  return { decoder, specials }
}

const additional = 'additional_special_tokens'
const textOf = (special: string | Stated): string => (typeof special === 'string' ? special : special.content)
