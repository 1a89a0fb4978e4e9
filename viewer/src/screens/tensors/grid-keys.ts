// The keys of the table. They are made once and ask for what they act on when they are pressed.
import type { KeyBinding } from '../../app/keys.js'
import type { ShownRow, TableRow } from '../../engine/rooms/tensors.js'

export interface GridActions {
  readonly count: number
  readonly pageRows: number
  readonly at: number
  readonly row: ShownRow | undefined
  moveTo(row: number): void
  /** Makes a row the current one, without scrolling. */
  focus(row: number): void
  open(name: string): void
  toggle(path: string): void
  select(tensor: TableRow): void
}

export function gridKeys(now: () => GridActions): readonly KeyBinding[] {
  const move =
    (by: (actions: GridActions) => number): (() => void) =>
    () =>
      now().moveTo(now().at + by(now()))
  const activate = (): void => {
    const { row, open, toggle } = now()
    if (row?.tensor) open(row.tensor.name)
    else if (row?.tree?.path !== undefined) toggle(row.tree.path)
  }
  /** Opens a closed group, or closes an open one. */
  const turn = (wanted: boolean): void => {
    const { row, toggle } = now()
    if (row?.tree?.path !== undefined && row.tree.isOpen !== wanted) toggle(row.tree.path)
  }
  const select = (): void => {
    const { row, select: pick } = now()
    if (row?.tensor) pick(row.tensor)
  }
  return [
    { keys: ['ArrowDown', 'j'], shown: '↓ j', title: 'Next row', run: move(() => 1) },
    { keys: ['ArrowUp', 'k'], shown: '↑ k', title: 'Row before', run: move(() => -1) },
    { keys: ['PageDown'], title: 'A page down', run: move(({ pageRows }) => pageRows) },
    { keys: ['PageUp'], title: 'A page up', run: move(({ pageRows }) => -pageRows) },
    { keys: ['Home'], title: 'First row', run: () => now().moveTo(0) },
    { keys: ['End'], title: 'Last row', run: () => now().moveTo(now().count - 1) },
    { keys: ['ArrowRight', 'l'], shown: '→ l', title: 'Open a group', run: () => turn(true) },
    { keys: ['ArrowLeft', 'h'], shown: '← h', title: 'Close a group', run: () => turn(false) },
    { keys: ['Enter'], title: 'Show the tensor', run: activate },
    { keys: [' ', 'x'], shown: 'Space x', title: 'Select', run: select },
  ]
}
