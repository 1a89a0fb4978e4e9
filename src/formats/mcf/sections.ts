// What a section of a given type holds. The section directory says where each one is; the document draws it behind the header, the
// reference writes it last, and readers take it from anywhere.
import type { Range } from '../../bytes/index.js'

export const sectionTypes = { modelInfo: 1, quantInfo: 2, tensorIndex: 3, tensorData: 4 } as const

/** Files of a Hugging Face model that have a section of their own, in the order in which the reference's pack command writes them. */
const files: readonly (readonly [type: number, name: string])[] = [
  [0x100, 'config.json'],
  [0x101, 'generation_config.json'],
  [0x102, 'tokenizer.json'],
  [0x104, 'vocab.json'],
  [0x103, 'tokenizer_config.json'],
  [0x105, 'merges.txt'],
]

/** Where all other files go: `TARE`, as its bytes lie in the file. */
export const otherFilesType = 0x45524154

const nameByType = new Map(files)
const typeByName = new Map(files.map(([type, name]) => [name, type]))

export const fileNameOf = (type: number): string | undefined => nameByType.get(type)
export const typeOfFile = (name: string): number | undefined => typeByName.get(name)

/** Where a section stands among the others when the reference packs a model: files first. */
export function packOrder(type: number): number {
  const at = files.findIndex(([each]) => each === type)
  return at < 0 ? files.length : at
}

const ownNames = new Map<number, string>([
  [sectionTypes.modelInfo, 'model_info'],
  [sectionTypes.quantInfo, 'quant_info'],
  [sectionTypes.tensorIndex, 'tensor_index'],
  [sectionTypes.tensorData, 'tensor_data'],
  [otherFilesType, 'other_files'],
])

/** `tensor_index`, `config.json` or `0x7777`, for paths and part names. */
export const sectionName = (type: number): string => ownNames.get(type) ?? fileNameOf(type) ?? hexType(type)

export const hexType = (type: number): string => `0x${type.toString(16).padStart(4, '0')}`

/** Whether readers look into sections of this type, or their files are in them. */
export const isKnown = (type: number): boolean => ownNames.has(type) || nameByType.has(type)

export interface Section {
  readonly type: number
  readonly version: number
  readonly offset: number
  readonly size: number
  /** Position in the directory. */
  readonly index: number
}

/** The bytes of a section, or of the directory. */
export const rangeOf = ({ offset, size }: Pick<Section, 'offset' | 'size'>): Range => ({
  start: offset,
  end: offset + size,
})
