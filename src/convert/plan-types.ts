// What a plan consists of. Plain JSON, so that programs can read it and receipts can keep it.
export type Loss = 'none' | 'form' | 'precision' | 'content'

export type ActionKind =
  | 'copy'
  | 'cast'
  | 'quantize'
  | 'dequantize'
  | 'reorder'
  | 'transpose'
  | 'rename'
  | 'map'
  | 'stow'
  | 'restore'
  | 'set'
  | 'add'
  | 'recompute'
  | 'drop'

export interface PlanAction {
  readonly subject: 'tensor' | 'metadata' | 'part'
  readonly name: string
  readonly action: ActionKind
  readonly loss: Loss
  /** Asked for by the caller: named, but not refused. */
  readonly requested?: true
  readonly reason?: string
  readonly from?: string
  readonly to?: string
}

export interface Plan {
  readonly source: { readonly file: string; readonly format: string }
  readonly target: string
  readonly actions: readonly PlanAction[]
  /** What else is worth knowing: wishes that the target cannot fulfil, although nothing is lost by that. */
  readonly notes: readonly string[]
  /** The worst loss that nobody asked for. */
  readonly loss: Loss
  readonly size: number
  readonly files: readonly { readonly name: string; readonly size: number }[]
  /** The most bytes of memory that carrying it out takes, beyond the program itself: an estimate, rather too high than too low. */
  readonly peakMemory: number
}

const lossOrder: readonly Loss[] = ['none', 'form', 'precision', 'content']
export const isWorse = (a: Loss, b: Loss): boolean => lossOrder.indexOf(a) > lossOrder.indexOf(b)
