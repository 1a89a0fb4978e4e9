import {
  createTextTokenizer,
  createTokenizer,
  type Encoding,
  findTextTokenizer,
  type Model,
  parseIds,
  parseTokenizerFile,
  restoreStowed,
  type TextTokenizer,
} from '../../../kit-node.js'
import type { Context } from '../../context.js'
import { forEachInput, forEachModel } from '../../input/run-inputs.js'
import { readSideFile } from '../../input/side-file.js'
import { chooseVocabulary, readTexts } from '../../input/texts.js'
import { type Status, UsageError } from '../../status.js'
import type { TokenizeOptions } from './index.js'
import { describeIds, describeTokens } from './text.js'

export default async function tokenize(
  context: Context,
  words: readonly string[],
  options: TokenizeOptions,
): Promise<Status> {
  const [input = '', ...given] = words
  checkTogether(options)
  const texts = await readTexts(input, given, options.file)
  if (isTokenizerFile(input))
    return forEachInput(context, [input], async (source) => {
      const tokenizer = parseTokenizerFile(await source.read(0, source.size), input)
      const made = ownTokenizer(await createTextTokenizer({ tokenizer, file: input }), options)
      return print(context, texts, made, { file: input, format: 'tokenizer.json' }, options)
    })
  return forEachModel(context, [input], async (opened) => {
    const { model } = await restoreStowed(opened)
    const made = await chooseTokenizer(context, model, options)
    return print(context, texts, made, { file: input, format: model.format }, options)
  })
}

/** A tokenizer without its model. */
const isTokenizerFile = (path: string): boolean => /tokenizer[^/\\]*\.json$/i.test(path)

/** What all tokenizers can do here, and what JSON says about the one at hand. */
interface Chosen {
  readonly about: { readonly profile: string; readonly tokenizer: string }
  encode(text: string): Encoding
  decode(ids: readonly number[]): string
  token(id: number): string | undefined
}

/** The model's own tokenizer, unless another is asked for; WordPiece with a plain list of tokens where there is none. */
async function chooseTokenizer(context: Context, model: Model, options: TokenizeOptions): Promise<Chosen> {
  const { vocab, profile, cased } = options
  if (vocab !== undefined && isTokenizerFile(vocab)) {
    const tokenizer = parseTokenizerFile(await readSideFile(vocab), vocab)
    return ownTokenizer(await createTextTokenizer({ tokenizer, file: vocab }), options)
  }
  const isPlain = vocab !== undefined || profile !== undefined || cased === true
  const own = isPlain ? undefined : await findTextTokenizer(model)
  if (own) return ownTokenizer(own, options)
  const tokenizer = createTokenizer(await chooseVocabulary(context, model, vocab), {
    profile: profile === 'reference' ? 'reference' : 'bert',
    maxLength: options.maxLength,
    lowercase: cased !== true,
  })
  const called = tokenizer.profile === 'reference' ? 'reference' : 'original'
  return { ...tokenizer, about: { profile: called, tokenizer: 'WordPiece' } }
}

function ownTokenizer(tokenizer: TextTokenizer, { maxLength, special }: TokenizeOptions): Chosen {
  const withoutSpecials = special === false
  return {
    about: { profile: 'model', tokenizer: tokenizer.kind },
    encode: (text) => tokenizer.encode(text, { maxLength, withoutSpecials }),
    decode: (ids) => tokenizer.decode(ids, { withoutSpecials }),
    token: (id) => tokenizer.token(id),
  }
}

/** Flags that only one kind of tokenizer has. */
function checkTogether({ decode, maxLength, profile, special }: TokenizeOptions): void {
  if (decode && maxLength !== undefined) throw new UsageError('--max-length is about texts, and --decode takes ids')
  if (special === false && profile !== undefined) throw new UsageError('--no-special cannot be used with --profile')
}

async function print(
  { console, json }: Context,
  texts: readonly string[],
  tokenizer: Chosen,
  about: { readonly file: string; readonly format: string },
  { decode }: TokenizeOptions,
): Promise<Status> {
  for (const given of texts) {
    const ids = decode ? parseIds(given) : undefined
    const text = ids ? tokenizer.decode(ids) : given
    const encoding = ids ? { ids, count: ids.length, cut: 0 } : tokenizer.encode(given)
    if (json) {
      const tokens = encoding.ids.slice(0, encoding.count).map((id) => tokenizer.token(id) ?? null)
      await console.json({ ...about, text, ...tokenizer.about, ...encoding, tokens })
    } else if (ids) await console.print(describeIds(text))
    else await console.print(describeTokens(text, encoding, tokenizer, console))
  }
  return 0
}
