// The screens of a model, in the order of their keys. A screen is a folder in `screens` whose index has the component as default export; it
// is loaded when it is first shown.
import type { ComponentType } from 'preact'
import type { OpenedModel } from '../state/models.js'

export interface ScreenProps {
  readonly model: OpenedModel & { readonly head: NonNullable<OpenedModel['head']> }
}

/** For screens that also show what could not be opened. */
export interface AnyScreenProps {
  readonly model: OpenedModel
}

export interface Screen {
  readonly id: string
  readonly title: string
  /** The key that shows it. */
  readonly key: string
  /** It needs no more than bytes, so that it is there for damaged models, too. */
  readonly isForAny?: true
  load(): Promise<{ readonly default: ComponentType<ScreenProps> }>
}

export const screens: readonly Screen[] = [
  { id: 'overview', title: 'Overview', key: '1', load: () => import('../screens/overview/index.js') },
  { id: 'tensors', title: 'Tensors', key: '2', load: () => import('../screens/tensors/index.js') },
  { id: 'tensor', title: 'Tensor', key: '3', load: () => import('../screens/tensor/index.js') },
  { id: 'bytes', title: 'Bytes', key: '4', isForAny: true, load: () => import('../screens/bytes/index.js') },
  { id: 'findings', title: 'Findings', key: '5', isForAny: true, load: () => import('../screens/findings/index.js') },
  { id: 'compare', title: 'Compare', key: '6', load: () => import('../screens/compare/index.js') },
  { id: 'lab', title: 'Quantize', key: '7', load: () => import('../screens/lab/index.js') },
  { id: 'convert', title: 'Convert', key: '8', load: () => import('../screens/convert/index.js') },
]

export const screenNamed = (id: string): Screen | undefined => screens.find((screen) => screen.id === id)
