// A conversion is planned in stages. Each takes what is planned so far and gives back the same with its own part done; none changes what it
// was given. Nothing is read or written by a plan but what a stage has to look at.
import type { Finding } from '../../errors/index.js'
import type { DamageOptions, Format, Model, Tensor, WriteCapabilities } from '../../model/index.js'
import type { Stower } from '../../stow/index.js'
import type { RunThreads } from '../../threads/index.js'
import type { MethodChoice } from '../../transforms/quantize/plan.js'
import type { Change, PlanAction } from '../actions.js'
import type { ConvertOptions, Resolved } from '../options.js'

export type Stage = (state: State) => State | Promise<State>

export interface State {
  readonly options: ConvertOptions
  readonly target: Format
  /** The model as it was opened. */
  readonly source: Model
  /** The same with what its container only carried. */
  readonly restored: Model
  /** All that is to be converted, before any of it is fitted to the target. */
  readonly meant: Model
  /** What the target will be asked to hold, as far as it is planned. */
  readonly model: Model
  /** Its tensors on their way. */
  readonly items: readonly Item[]
  /** The keys of its metadata, those that are only stowed included. */
  readonly keys: readonly string[]
  readonly write: WriteCapabilities
  /** Carries what the target has no place for; undefined where nothing may be carried. */
  readonly stower: Stower | undefined
  readonly actions: readonly PlanAction[]
  readonly notes: readonly string[]
  /** Which method each tensor takes, where tensors are quantized. */
  readonly choices?: readonly MethodChoice[]
  readonly threads: RunThreads
  readonly resolved?: Resolved | undefined
}

/** A look at some bytes of the input. */
export interface InputCheck {
  /** How many bytes it reads, about. */
  readonly bytes: number
  /** What is damaged. */
  run(how: Omit<DamageOptions, 'only'>): Promise<readonly Finding[]>
}

/** A tensor on its way through the stages. */
export interface Item {
  /** As the stages that look at tensors one by one found it. */
  readonly original: Tensor
  /** Under its new name and with its new type; undefined when it is dropped. */
  readonly tensor: Tensor | undefined
  /** As the target takes it; undefined as well when it only comes back from what is stowed. */
  readonly stored?: Tensor | undefined
  /** What was done to it, until the stage that fits it to the target notes that in the plan. */
  readonly changes: readonly Change[]
}

/** Most items have none, and there can be very many items. */
export const noChanges: readonly Change[] = []

export const fileOf = ({ files: [main] }: Model): string => main?.name ?? ''

/** The same with more actions. */
export const withActions = (state: State, actions: readonly PlanAction[]): State =>
  actions.length === 0 ? state : { ...state, actions: [...state.actions, ...actions] }
