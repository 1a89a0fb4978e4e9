// Which tensors come along, and what they are called.
import { failWith, usageCodes } from '../../errors/index.js'
import { parseRename, renameTensor, selector } from '../../transforms/select.js'
import { type ActionLog, noter } from '../actions.js'
import { fileOf, type Item, noActions, type State } from './state.js'

/** Tensors that were not chosen stay behind. */
export function select(state: State): State {
  const { only = [], exclude = [] } = state.options
  const isWanted = selector(only, exclude)
  const items = state.model.tensors.map((original): Item => {
    if (isWanted(original.name)) return { original, tensor: original, actions: noActions }
    const actions: ActionLog = []
    noter(actions, 'tensor', original.name)('drop', 'content', { requested: true, reason: 'not selected' })
    return { original, tensor: undefined, actions }
  })
  if (items.length > 0 && items.every(({ tensor }) => !tensor)) {
    const path = only.length > 0 ? '--only' : '--exclude'
    const message = `none of the ${items.length} tensors is left; \`tare inspect\` lists their names`
    failWith(usageCodes.option, { file: fileOf(state.source), path, message })
  }
  return { ...state, items }
}

/** A name that the map has is final; on all others the rules work, one after the other. */
export function rename(state: State): State {
  const { rename: rules = [], renameMap = new Map<string, string>() } = state.options
  checkMap(renameMap, state)
  if (rules.length === 0 && renameMap.size === 0) return state
  const changes = rules.map(parseRename)
  const newName = (name: string): string => renameMap.get(name) ?? changes.reduce((old, change) => change(old), name)
  const items = state.items.map((item): Item => {
    const from = item.original.name
    const to = item.tensor ? newName(from) : from
    if (to === from) return item
    const actions: ActionLog = [...item.actions]
    noter(actions, 'tensor', from)('rename', 'none', { requested: true, from, to })
    return { ...item, tensor: renameTensor(item.tensor!, to), actions }
  })
  return { ...state, items }
}

/** Every name in the map must be there: one that is not is most likely a slip, and would go unnoticed. */
function checkMap(map: ReadonlyMap<string, string>, { model, source }: State): void {
  if (map.size === 0) return
  const names = new Set(model.tensors.map(({ name }) => name))
  for (const [name, to] of map) {
    if (names.has(name)) continue
    const message = `there is no tensor of this name, which is to be called ${JSON.stringify(to)}`
    failWith(usageCodes['no-such-tensor'], { file: fileOf(source), path: name, message })
  }
}
