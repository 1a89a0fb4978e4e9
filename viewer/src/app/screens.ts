// The screens of a model, in the order of their keys. A screen is a folder in `screens` whose index has the component as default export; it
// is loaded when it is first shown.
import type { ComponentType } from 'preact'
import type { OpenedModel } from '../state/models.js'

export interface ScreenProps {
  readonly model: OpenedModel & { readonly head: NonNullable<OpenedModel['head']> }
}

export interface Screen {
  readonly id: string
  readonly title: string
  /** The key that shows it. */
  readonly key: string
  load(): Promise<{ readonly default: ComponentType<ScreenProps> }>
}

export const screens: readonly Screen[] = [
  { id: 'overview', title: 'Overview', key: '1', load: () => import('../screens/overview/index.js') },
  { id: 'tensors', title: 'Tensors', key: '2', load: () => import('../screens/tensors/index.js') },
  { id: 'tensor', title: 'Tensor', key: '3', load: () => import('../screens/tensor/index.js') },
]

export const screenNamed = (id: string): Screen | undefined => screens.find((screen) => screen.id === id)
