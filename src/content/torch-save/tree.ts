// What a model does not say about the checkpoint that it was read from: which dictionaries and lists its tensors and values lie in, and
// which storages they share. Writing reads it again from the file, so that a checkpoint keeps its structure.
import type { ByteSource } from '../../bytes/index.js'
import type { Metadata, Tensor } from '../../model/index.js'
import type { PickleValue } from '../../wire/pickle/pickle.js'
import type { NumberedNames } from './objects/path-names.js'
import type { Storages } from './objects/storages.js'

export interface TreeContent {
  readonly value: PickleValue
  readonly storages: Storages
}

export interface Tree {
  /** What was read from it. */
  readonly tensors: readonly Tensor[]
  readonly metadata: Metadata
  readonly numbered: NumberedNames
  /** The top folder of the archive; undefined for the format before archives. */
  readonly root?: string
  /** Whether restricted loaders take the file as it is, so that it can be copied. */
  readonly isCopied: boolean
  /** The checksum of a storage, where the file has one. */
  crc32Of?(key: string): number | undefined
  read(): Promise<TreeContent>
}

const trees = new WeakMap<ByteSource, Tree>()

export const rememberTree = (source: ByteSource, tree: Tree): void => void trees.set(source, tree)
export const treeOf = (source: ByteSource | undefined): Tree | undefined => source && trees.get(source)
