// Which of the five types a file is written as: the option decides, or else the name of the output, or else what the model holds.
import type { Model, Tensor } from '../../model/index.js'
import { type FileType, titleOf } from './header.js'

const typeByExtension: ReadonlyMap<string, FileType> = new Map([
  ['.shape', 'shape'],
  ['.tensor', 'tensor'],
  ['.param', 'parameter'],
  ['.model', 'model'],
  ['.optimizer', 'optimizer'],
])

export function typeOfName(name: string): FileType | undefined {
  return typeByExtension.get(/\.[^.]*$/.exec(name.toLowerCase())?.[0] ?? '')
}

export interface ChosenType {
  readonly type: FileType
  /** Why it is not the type that the name speaks of. */
  readonly note?: string
}

interface Wanted {
  readonly name: string
  readonly asked: FileType | undefined
  readonly hasSettings: boolean
}

export function chooseType(model: Model, { name, asked, hasSettings }: Wanted): ChosenType {
  if (asked) return { type: asked }
  const named = typeOfName(name)
  const held = typeOfContent(model, hasSettings)
  if (named === undefined || named === held) return { type: held }
  // Files of every type get called .model, so this name alone does not refuse what no Model can hold.
  if (named !== 'model') return { type: named }
  const why =
    held === 'optimizer' ? 'a Model holds no settings of an optimizer' : 'a Model holds no tensor without a name'
  return { type: held, note: `${name} becomes ${withArticle(held)} file, in spite of its name: ${why}` }
}

const withArticle = (type: FileType): string => `${type === 'optimizer' ? 'an' : 'a'} ${titleOf(type)}`

/** Only a tensor without a name can be a file of its own. */
function typeOfContent({ tensors, variant }: Model, hasSettings: boolean): FileType {
  if (tensors.length === 0) return hasSettings || variant === 'optimizer' ? 'optimizer' : 'model'
  let only: Tensor | undefined
  for (const tensor of tensors) {
    if (tensor.role !== 'weight') continue
    if (only || tensor.path?.length !== 0) return 'model'
    only = tensor
  }
  if (!only) return 'model'
  if (!only.data) return 'shape'
  return variant === 'tensor' && tensors.length === 1 ? 'tensor' : 'parameter'
}
