import { callerWord, didYouMean, failWith, usageCodes } from '../../errors/index.js'
import type { Model } from '../../model/index.js'

/** Throws `usage/no-such-tensor`, with the names that are most like the one that was given. */
export function refuseName(model: Model, name: string): never {
  const hint = didYouMean(name, namesOf(model)) || `; ${callerWord('`tare inspect`', 'inspect()')} lists the names`
  return failWith(usageCodes['no-such-tensor'], {
    file: model.files[0]?.name ?? '',
    path: name,
    message: `there is no tensor ${JSON.stringify(name)}${hint}`,
  })
}

function* namesOf({ tensors }: Model): Generator<string> {
  for (const { name } of tensors) yield name
}
