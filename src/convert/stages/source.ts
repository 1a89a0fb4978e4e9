// What is taken from the source: the model as it was meant, what the caller adds to it, and which tensors come along under which names.
import { callerWord, didYouMean, failWith, usageCodes } from '../../errors/index.js'
import type { Part } from '../../model/index.js'
import { restoreStowed } from '../../stow/index.js'
import { attachState, dropState } from '../../transforms/optimizer-state.js'
import { orientFor } from '../../transforms/orientation.js'
import { parseRename, renameTensor, selector } from '../../transforms/select.js'
import { type ActionLog, type Change, noter } from '../actions.js'
import { fileOf, type Item, noChanges, type State, withActions } from './state.js'

/** Everything that the container only carried is back in its own form. */
export async function restore(state: State): Promise<State> {
  const { model, names } = await restoreStowed(state.model)
  const actions: ActionLog = []
  for (const { subject, name } of names) noter(actions, subject, name)('restore', 'none')
  return withActions({ ...state, restored: model, model }, actions)
}

/** Versions and variants mean something only within one format. */
export function ownVersion(state: State): State {
  const { model, target } = state
  const known = [model, model.origin].find((each) => each?.format === target.id)
  return { ...state, model: { ...model, version: known?.version, variant: known?.variant } }
}

/** Optimizer state goes, or is attached to the parameters that it belongs to. */
export function changeOptimizerState(state: State): State {
  const { dropState: isDropped, stateFrom } = state.options
  const actions: ActionLog = []
  let { model } = state
  if (isDropped) {
    model = dropState(model, (name) =>
      noter(actions, 'tensor', name)('drop', 'content', { requested: true, reason: 'optimizer state' }),
    )
  }
  if (stateFrom) {
    const attached = attachState(model, stateFrom)
    for (const name of attached.unmatched) {
      noter(actions, 'tensor', name)('drop', 'content', { reason: 'there is no parameter that it belongs to' })
    }
    model = attached.model
  }
  return withActions({ ...state, model }, actions)
}

/** Parts that the caller adds take the place of those with the same kind and name. */
export function addParts(state: State): State {
  const { model, options } = state
  const added = options.parts ?? []
  const isReplaced = (part: Part): boolean => added.some(({ kind, name }) => kind === part.kind && name === part.name)
  const actions: ActionLog = []
  for (const { kind, name } of added) noter(actions, 'part', name ?? kind)('set', 'none', { requested: true })
  const parts = [...model.parts.filter((part) => !isReplaced(part)), ...added]
  return withActions({ ...state, restored: model, model: { ...model, parts } }, actions)
}

/** Linear weights lie the way round that the target wants them. */
export function orient(state: State): State {
  const { model, turned, from, to, isAssumed } = orientFor(state.model, state.write.orientation)
  const reason = `linear weights lie ${isAssumed ? 'presumably ' : ''}as [${from === 'in-out' ? 'in, out' : 'out, in'}], the target wants the transpose`
  const actions: ActionLog = []
  for (const name of turned) noter(actions, 'tensor', name)('transpose', 'none', { reason, from: from!, to: to! })
  return withActions({ ...state, model }, actions)
}

const notSelected: readonly Change[] = [{ action: 'drop', loss: 'content', requested: true, reason: 'not selected' }]

/** Tensors that were not chosen stay behind. */
export function select(state: State): State {
  const { only = [], exclude = [] } = state.options
  const isWanted = selector(only, exclude)
  const items = state.model.tensors.map((original): Item => {
    if (isWanted(original.name)) return { original, tensor: original, changes: noChanges }
    return { original, tensor: undefined, changes: notSelected }
  })
  if (items.length > 0 && items.every(({ tensor }) => !tensor)) {
    const path = only.length > 0 ? callerWord('--only', 'only') : callerWord('--exclude', 'exclude')
    const names = items.map(({ original }) => original.name)
    const lister = callerWord('`tare inspect`', 'inspect()')
    const hint = (only[0] !== undefined && didYouMean(only[0], names)) || `; ${lister} lists their names`
    const message = `none of the ${items.length} tensors is left${hint}`
    failWith(usageCodes.option, { file: fileOf(state.source), path, message })
  }
  return { ...state, items }
}

/** A name that the map has is final; on all others the rules work, one after the other. */
export function rename(state: State): State {
  const { rename: rules = [], renameMap = new Map<string, string>() } = state.options
  checkMap(renameMap, state)
  const changes = rules.map(parseRename)
  const newName = (name: string): string => renameMap.get(name) ?? changes.reduce((old, change) => change(old), name)
  const items = state.items.map((item): Item => {
    const from = item.original.name
    const to = item.tensor ? newName(from) : from
    if (to === from) return item
    const change: Change = { action: 'rename', loss: 'none', requested: true, from, to }
    return { ...item, tensor: renameTensor(item.tensor!, to), changes: [...item.changes, change] }
  })
  return { ...state, items }
}

/** Every name in the map must be there: one that is not is most likely a typo, and would go unnoticed. */
function checkMap(map: ReadonlyMap<string, string>, { model, source }: State): void {
  const names = new Set(model.tensors.map(({ name }) => name))
  for (const [name, to] of map) {
    if (names.has(name)) continue
    const message = `there is no tensor of this name, which is to be called ${JSON.stringify(to)}${didYouMean(name, names)}`
    failWith(usageCodes['no-such-tensor'], { file: fileOf(source), path: name, message })
  }
}
