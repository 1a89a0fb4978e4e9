import { createTokenizer, restoreStowed } from '../../../kit-node.js'
import type { Context } from '../../context.js'
import { forEachModel } from '../../input/run-inputs.js'
import { chooseVocabulary, readTexts } from '../../input/texts.js'
import type { Status } from '../../status.js'
import type { TokenizeOptions } from './index.js'
import { describeTokens } from './text.js'

export default async function tokenize(
  context: Context,
  words: readonly string[],
  options: TokenizeOptions,
): Promise<Status> {
  const [input = '', ...given] = words
  const texts = await readTexts(input, given, options.file)
  return forEachModel(context, [input], async (opened) => {
    const { model } = await restoreStowed(opened)
    const tokenizer = createTokenizer(await chooseVocabulary(context, model, options.vocab), {
      profile: options.profile === 'reference' ? 'reference' : 'bert',
      maxLength: options.maxLength,
      lowercase: options.cased !== true,
    })
    for (const text of texts) {
      const encoding = tokenizer.encode(text)
      if (!context.json) {
        await context.console.print(describeTokens(text, encoding, tokenizer, context.console))
        continue
      }
      const { ids, count, cut } = encoding
      const tokens = ids.slice(0, count).map((id) => tokenizer.token(id) ?? null)
      const profile = tokenizer.profile === 'reference' ? 'reference' : 'original'
      await context.console.json({ file: input, format: model.format, text, profile, ids, tokens, count, cut })
    }
    return 0
  })
}
