import { type Model, selector, showModel } from '../node.js'
import type { Context } from './context.js'
import { escapeName, escapeText } from './escape-name.js'
import { forEachModel } from './run-inputs.js'
import type { Status } from './status.js'

interface ShowFlags {
  readonly tensors?: readonly string[]
}

export default function show(context: Context, inputs: readonly string[], flags: ShowFlags): Promise<Status> {
  const { console, signal } = context
  const options = { tensors: selector(flags.tensors), signal }
  return forEachModel(context, inputs, async (model, input) => {
    if (context.json) {
      let text = ''
      for await (const piece of showModel(model, options)) text += piece
      await console.json({ file: input, format: model.format, text })
    } else {
      const chosen = { ...model, tensors: model.tensors.filter(({ name }) => options.tensors(name)) }
      for await (const piece of showModel(withShownNames(chosen), { signal })) await console.write(escapeLines(piece))
    }
    return 0
  })
}

/** A line end inside a name must not look like the end of a line of ours. */
function withShownNames(model: Model): Model {
  return {
    ...model,
    tensors: model.tensors.map((tensor) => ({ ...tensor, name: escapeName(tensor.name) })),
    metadata: new Map([...model.metadata].map(([key, value]) => [escapeName(key), value])),
  }
}

const escapeLines = (text: string): string => text.split('\n').map(escapeText).join('\n')
