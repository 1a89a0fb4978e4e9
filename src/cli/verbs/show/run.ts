import { type Model, showModel } from '../../../kit-node.js'
import { escapeLines, escapeName } from '../../console/escape.js'
import type { Context } from '../../context.js'
import { damageJson, warnOfDamage } from '../../input/damage.js'
import { assertUnchanged, forEachModel } from '../../input/run-inputs.js'
import { chooseTensors } from '../../input/tensors.js'
import type { Status } from '../../status.js'
import type { ShowOptions } from './index.js'

export default function show(context: Context, inputs: readonly string[], options: ShowOptions): Promise<Status> {
  const { console, signal, pool } = context
  return forEachModel(context, inputs, async (model, input, source) => {
    const chosen = { ...model, tensors: chooseTensors(model, options.tensors, console) }
    const damage = await warnOfDamage(context, model, chosen.tensors)
    if (context.json) {
      let text = ''
      for await (const piece of showModel(chosen, { signal, pool })) text += piece
      await assertUnchanged([source])
      await console.json({ file: input, format: model.format, text, ...damageJson(damage) })
    } else {
      await console.beginBlock()
      const shown = withShownNames(chosen, console.isTerminal ? escapeName : escapeLines)
      for await (const piece of showModel(shown, { signal, pool })) await console.write(escapeLines(piece))
      await assertUnchanged([source])
    }
    return damage.length > 0 ? 1 : 0
  })
}

/** On a terminal, a line end inside a name must not look like one of ours; a program gets the text as it is defined. */
function withShownNames(model: Model, shownAs: (name: string) => string): Model {
  return {
    ...model,
    tensors: model.tensors.map((tensor) => ({ ...tensor, name: shownAs(tensor.name) })),
    metadata: new Map([...model.metadata].map(([key, value]) => [shownAs(key), value])),
  }
}
