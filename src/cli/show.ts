import { type Model, selector, showModel } from '../node.js'
import type { Context } from './context.js'
import { escapeName, escapeText } from './escape-name.js'
import { poolOf } from './pool-of.js'
import { forEachModel } from './run-inputs.js'
import type { Status } from './status.js'

interface ShowFlags {
  readonly tensors?: readonly string[]
}

export default function show(context: Context, inputs: readonly string[], flags: ShowFlags): Promise<Status> {
  const { console, signal } = context
  const pool = poolOf(context)
  const options = { tensors: selector(flags.tensors), signal, pool }
  return forEachModel(context, inputs, async (model, input) => {
    if (context.json) {
      let text = ''
      for await (const piece of showModel(model, options)) text += piece
      await console.json({ file: input, format: model.format, text })
    } else {
      const chosen = { ...model, tensors: model.tensors.filter(({ name }) => options.tensors(name)) }
      const shown = withShownNames(chosen, console.isTerminal ? escapeName : escapeLines)
      for await (const piece of showModel(shown, { signal, pool })) await console.write(escapeLines(piece))
    }
    return 0
  })
}

/** On a terminal, a line end inside a name must not look like the end of a line of ours; a program gets the text as it is defined. */
function withShownNames(model: Model, shownAs: (name: string) => string): Model {
  return {
    ...model,
    tensors: model.tensors.map((tensor) => ({ ...tensor, name: shownAs(tensor.name) })),
    metadata: new Map([...model.metadata].map(([key, value]) => [shownAs(key), value])),
  }
}

const escapeLines = (text: string): string => text.split('\n').map(escapeText).join('\n')
