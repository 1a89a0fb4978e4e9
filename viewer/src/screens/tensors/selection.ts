// Tensors that were picked, by index. They stay picked while the filter changes, and until another model is shown.
import { signal } from '@preact/signals'

export interface Picked {
  readonly name: string
  readonly bytes: number
}

export const selection = signal<{ readonly model: number; readonly tensors: ReadonlyMap<number, Picked> }>({
  model: -1,
  tensors: new Map(),
})

export function toggleSelected(model: number, index: number, picked: Picked): void {
  const before = selection.peek()
  const tensors = new Map(before.model === model ? before.tensors : [])
  if (!tensors.delete(index)) tensors.set(index, picked)
  selection.value = { model, tensors }
}

export function clearSelection(): void {
  selection.value = { model: -1, tensors: new Map() }
}
