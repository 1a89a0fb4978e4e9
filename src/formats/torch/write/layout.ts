// Writing. A file that nothing was changed about is copied; a checkpoint keeps its form; any other model becomes a state dict, which is a
// dictionary of tensors, with dictionaries in it where tensors have a path.
import { companionFiles } from '../../../content/companions.js'
import { shardIndex, shardName, splitShards } from '../../../content/shard-set.js'
import { writeMetadataRecord } from '../../../content/torch-save/metadata-record.js'
import { type Tree, treeOf } from '../../../content/torch-save/tree.js'
import { callerWord, failWith, usageCodes, writeCodes } from '../../../errors/index.js'
import {
  type FileLayout,
  type Layout,
  type Metadata,
  type Model,
  rangePayload,
  type Tensor,
  type WriteOptions,
} from '../../../model/index.js'
import { writePickle } from '../../../wire/pickle/write.js'
import { archiveFile } from './archive-file.js'
import { isWhole } from './match.js'
import { rewriteTree } from './rewrite-tree.js'
import { pickleStateDict } from './state-dict.js'
import { NewStorages } from './storages.js'

const defaultAlignment = 64
const maxAlignment = 32_768
/** What PyTorch calls the top folder of an archive that is written to no file in particular. */
const defaultRoot = 'archive'

/** Companions of the model are here only when the output is a directory of its own. */
export async function layout(model: Model, options: WriteOptions): Promise<Layout> {
  const { files } = await layoutWeights(model, options)
  return { files: [...files, ...companionFiles(model)] }
}

async function layoutWeights(model: Model, options: WriteOptions): Promise<Layout> {
  const { shardSize, name } = options
  if (/\.mar$/i.test(name)) {
    const message =
      'an archive of TorchServe holds more than a model and is not written; give the output the extension .pt'
    failWith(writeCodes['not-writable'], { file: name, message })
  }
  const shards = shardSize === undefined ? [] : splitShards(inOneShard(model.tensors), shardSize)
  if (shards.length <= 1) return { files: [await layoutFile(model, options)] }
  const stem = name.replace(/\.(bin\.index\.json|bin|pt|pth|ckpt)$/i, '')
  const files: FileLayout[] = []
  for (const [i, tensors] of shards.entries()) {
    // What a set says about the model is in its first file.
    const part = { ...model, tensors, metadata: i === 0 ? model.metadata : new Map() }
    files.push(await stateDictFile(part, { ...options, name: shardName(stem, i, shards.length, '.bin') }))
  }
  return { files: [shardIndex(`${stem}.bin.index.json`, files, shards), ...files] }
}

/** Tensors that share their bytes one after the other, so that they come into one file. */
function inOneShard(tensors: readonly Tensor[]): readonly Tensor[] {
  const groups = new Map<unknown, Tensor[]>()
  for (const tensor of tensors) {
    const { data } = tensor
    const key = data?.origin
      ? `${data.origin.source.name} ${data.origin.offset} ${data.origin.length}`
      : (data ?? tensor)
    const known = groups.get(key)
    if (known) known.push(tensor)
    else groups.set(key, [tensor])
  }
  return groups.size === tensors.length ? tensors : [...groups.values()].flat()
}

async function layoutFile(model: Model, options: WriteOptions): Promise<FileLayout> {
  const [source] = model.files
  const tree = treeOf(source)
  if (!source || !tree) return stateDictFile(model, options)
  if (tree.isCopied && !options.rewrite && options.align === undefined && isWhole(tree, model)) {
    const payload = rangePayload(source, 0, source.size)
    return { name: options.name, slots: [{ kind: 'payload', path: 'file', payload }] }
  }
  return (await checkpointFile(tree, model, options)) ?? stateDictFile(model, options)
}

/** The same file with other values in its pickle, for an edit in place: the storages have the checksums that they had. */
export async function editInPlace(
  { files: [source] }: Model,
  edited: Model,
  options: WriteOptions,
): Promise<FileLayout | undefined> {
  const tree = treeOf(source)
  return tree?.root === undefined ? undefined : checkpointFile(tree, edited, options, true)
}

async function checkpointFile(
  tree: Tree,
  model: Model,
  options: WriteOptions,
  trustsSums = false,
): Promise<FileLayout | undefined> {
  const storages = new NewStorages()
  const rewritten = rewriteTree(tree, await tree.read(), model, storages)
  if (!rewritten) return undefined
  const { value, otherKeys } = rewritten
  return archiveFile({
    name: options.name,
    root: tree.root ?? defaultRoot,
    alignment: alignmentOf(options),
    pickle: writePickle(value),
    storages: storages.list,
    metadata: recordOf(new Map(otherKeys.map((key) => [key, model.metadata.get(key)!]))),
    trustsSums,
  })
}

async function stateDictFile(model: Model, options: WriteOptions): Promise<FileLayout> {
  const { tensors, metadata } = model
  const storages = new NewStorages()
  return archiveFile({
    name: options.name,
    root: defaultRoot,
    alignment: alignmentOf(options),
    pickle: pickleStateDict(tensors, storages),
    storages: storages.list,
    metadata: recordOf(metadata),
  })
}

const recordOf = (metadata: Metadata): Uint8Array | undefined =>
  metadata.size === 0 ? undefined : writeMetadataRecord(metadata)

function alignmentOf({ align = defaultAlignment, name }: WriteOptions): number {
  if (Number.isInteger(align) && align >= 1 && align <= maxAlignment) return align
  const message = `the alignment ${align} is not from 1 to ${maxAlignment}`
  return failWith(usageCodes.option, { file: name, path: callerWord('--align', 'align'), message })
}
