// Two models compared: structure, then bytes, then numbers; metadata and parts as well. Nothing but windows is held in memory.
import type { Model } from '../model/index.js'
import { restoreStowed } from '../stow/index.js'
import { compareMetadata } from './compare-metadata.js'
import { compareParts } from './compare-parts.js'
import { diffTensors, type TensorOptions } from './diff-tensors.js'
import { checkTolerance } from './tolerance.js'
import { turnAlike } from './turn-alike.js'
import type { Difference, MetadataDifference, PartDifference } from './types.js'

export interface DiffOptions extends TensorOptions {
  /** Only tensors whose name matches, and neither metadata nor parts. */
  readonly tensors?: readonly string[] | undefined
  /** False: what a container only carries for another format is not taken for what it stands for. */
  readonly stow?: boolean | undefined
}

/**
 * Compares the second model with the first. Without a tolerance they are equal when all names, types, shapes and bits are, in whatever
 * order the elements are stored, and all metadata and parts: their fingerprints are then the same too, unless a name was made from that of
 * the file, which is no difference.
 */
export async function diffModels(first: Model, second: Model, options: DiffOptions = {}): Promise<Difference> {
  checkTolerance(options)
  const restore = async (model: Model): Promise<Model> =>
    options.stow === false ? model : (await restoreStowed(model)).model
  const [a, b] = turnAlike(await restore(first), await restore(second))
  const tensors = await diffTensors(a, b, options)
  const rest = options.tensors ? undefined : await diffRest(a, b, options)
  const { changed, missing, extra, renamed } = tensors.counts
  return {
    ...headOf(a),
    other: headOf(b),
    equal: changed + missing + extra + renamed === 0 && (rest?.equal ?? true),
    summary: { tensors: tensors.counts, ...rest?.counts },
    tensors: tensors.differences,
    metadata: rest?.metadata ?? [],
    parts: rest?.parts ?? [],
  }
}

const headOf = ({ files, format, variant }: Model) => ({
  file: files[0]?.name ?? '',
  format,
  ...(variant !== undefined && { variant }),
})

async function diffRest(a: Model, b: Model, options: DiffOptions) {
  const metadata = compareMetadata(a.metadata, b.metadata, options)
  const { differences: parts, equal } = await compareParts(a, b, options)
  const inBoth = [...a.metadata.keys()].filter((key) => b.metadata.has(key)).length
  const [named, other] = [countChanges(metadata), countChanges(parts)]
  return {
    metadata,
    parts,
    equal: metadata.every((each) => each.close) && parts.length === 0,
    counts: {
      metadata: { equal: inBoth - named.changed - named.close, ...named },
      parts: { equal, changed: other.changed, missing: other.missing, extra: other.extra },
    },
  }
}

function countChanges(differences: readonly (MetadataDifference | PartDifference)[]) {
  const counts = { changed: 0, close: 0, missing: 0, extra: 0 }
  for (const each of differences) {
    if (each.change === 'missing' || each.change === 'extra') counts[each.change]++
    else if ('close' in each) counts.close++
    else counts.changed++
  }
  return counts
}
