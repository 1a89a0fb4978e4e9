// What a user can do about a directory that is refused. Messages say what is wrong where it is found; what helps depends only on the kind.
import { callerWord, TareError } from '../../errors/index.js'
import { familyCodes } from '../codes.js'

const again = 'correct it, or copy the file again from where the model was published'

const adviceFor: Readonly<Record<string, string>> = {
  [familyCodes.config.code]: again,
  [familyCodes['config-value'].code]: again,
  [familyCodes.tokenizer.code]: again,
  [familyCodes['tensor-missing'].code]: 'add the weights that are missing, or the config.json that belongs to these',
  [familyCodes['tensor-unknown'].code]: 'add the config.json that belongs to these weights',
  [familyCodes['tensor-shape'].code]: 'config.json and the weights must be of the same model',
}

/** Adds to the errors of a conversion what to do about them, where they do not say so themselves. */
export async function advised<T>(conversion: Promise<T>): Promise<T> {
  try {
    return await conversion
  } catch (error) {
    const advice = error instanceof TareError ? adviceFor[error.code] : undefined
    const asIs = callerWord('--as-is', 'asIs: true')
    if (!(error instanceof TareError) || advice === undefined || error.finding.message.includes(asIs)) throw error
    const message = `${error.finding.message}; ${advice}. ${asIs} copies the tensors under their own names`
    throw new TareError({ ...error.finding, message }, { cause: error.cause })
  }
}
