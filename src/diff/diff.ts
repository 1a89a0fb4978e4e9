// Compares two models: structure, then bytes, then numbers; metadata and parts as well. Data is streamed in windows.
import { metaToJson } from '../inspect/inspect.js'
import type { Metadata, Model } from '../model/index.js'
import { compareMeta } from '../model/same-meta.js'
import { restoreStowed } from '../stow/index.js'
import { compareParts } from './compare-parts.js'
import { diffTensors, type TensorOptions } from './diff-tensors.js'
import { checkTolerance, closenessOf, type ToleranceOptions } from './tolerance.js'
import { turnAlike } from './turn-alike.js'
import type { Difference, MetadataDifference, PartDifference } from './types.js'
import { unpackAlike } from './unpack-alike.js'

export interface DiffOptions extends TensorOptions {
  /** Only tensors whose name matches, and neither metadata nor parts. */
  readonly tensors?: readonly string[] | undefined
  /** False: stowed content is compared as it is stored, not restored first. */
  readonly stow?: boolean | undefined
}

/**
 * Compares the second model with the first. Without a tolerance they are equal if all names, types, shapes and bits are equal, whatever the
 * order in which elements are stored, and all metadata and parts. Equal models have equal fingerprints, unless a tensor is named after its
 * file; such a name does not count as a difference.
 */
export async function diffModels(first: Model, second: Model, options: DiffOptions = {}): Promise<Difference> {
  checkTolerance(options)
  const restore = async (model: Model): Promise<Model> =>
    options.stow === false ? model : (await restoreStowed(model)).model
  const restored = [await restore(first), await restore(second)] as const
  const [a, b] = turnAlike(...(await unpackAlike(...restored, options.signal)))
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

/** How many items of a long list are shown. */
const listLimit = 8

/** Entries that differ: those of the first model in its order, then those that only the second has. */
function compareMetadata(a: Metadata, b: Metadata, options: ToleranceOptions): MetadataDifference[] {
  const differences: MetadataDifference[] = []
  const close = closenessOf(options)
  for (const [key, value] of a) {
    const other = b.get(key)
    if (!other) {
      differences.push({ key, change: 'missing', a: metaToJson(value, listLimit) })
      continue
    }
    const { sameness, first } = compareMeta(value, other, close)
    if (sameness === 'same') continue
    const isAllowed = sameness === 'close' || (sameness === 'type' && options.tolerance !== undefined)
    differences.push({
      key,
      change: sameness === 'type' ? 'type' : 'value',
      ...(isAllowed && { close: true }),
      a: metaToJson(value, listLimit),
      b: metaToJson(other, listLimit),
      ...(first !== undefined && { first }),
    })
  }
  for (const [key, value] of b)
    if (!a.has(key)) differences.push({ key, change: 'extra', b: metaToJson(value, listLimit) })
  return differences
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
