// Several models become one, before anything is planned: an index that points into all their files. What two of them have under one name
// must be the same, or the caller says whose counts; so nothing is lost that is not named.

import type { MetaValue, Model, Part, Tensor } from '../../model/index.js'
import { statesOrientation } from '../../model/orientation.js'
import { compareMeta } from '../../model/same-meta.js'
import { restoreStowed } from '../../stow/index.js'
import { orient, orientFor } from '../../transforms/orientation.js'
import { selector } from '../../transforms/select.js'
import { type ActionLog, noter, type PlanAction } from '../actions.js'
import { mergeCodes } from '../codes.js'
import { checkUniqueNames } from '../stages/fit.js'
import { type Joinable, type JoinContext, JoinedByName } from './join-by-name.js'
import { joinSizes, ownPart, partKey } from './merge-parts.js'
import { isSamePart, tensorDifference } from './same-content.js'

/** Which of several models counts where they differ. */
export interface MergeOptions {
  /** Whose thing counts where two models have different ones under one name; without it such models are refused. */
  readonly prefer?: 'first' | 'last' | undefined
  /** Only these tensors, and all but those, are looked at: the others are not kept. */
  readonly only?: readonly string[] | undefined
  readonly exclude?: readonly string[] | undefined
  /** Metadata keys that are set or unset afterwards, so that it does not matter what the models say. */
  readonly settled?: readonly string[] | undefined
  /** Names or kinds of parts that are left out afterwards. */
  readonly without?: readonly string[] | undefined
  /** False: what a container only carries stays as it is stored. */
  readonly stow?: boolean | undefined
  readonly signal?: AbortSignal | undefined
}

/** One model from several, and what was left out for it. */
export interface Merged {
  readonly model: Model
  /** What was done, for the plan of the conversion. */
  readonly actions: readonly PlanAction[]
}

/** The first model with what the others have besides. It stays a model of the first one's format. */
export async function mergeModels(models: readonly [Model, ...Model[]], options: MergeOptions = {}): Promise<Merged> {
  const actions: ActionLog = []
  for (const model of models) {
    const names = model.tensors.map(({ name }) => name)
    checkUniqueNames(names, names, fileOf(model))
  }
  const unpacked = await Promise.all(models.map((model) => unpack(model, options, actions)))
  const [first, ...others] = unpacked as [Model, ...Model[]]
  const context: JoinContext = { prefer: options.prefer, actions, fileOf, labelOf: labeller(unpacked) }
  const tensors = new JoinedByName(tensorKind(options), context)
  const metadata = new JoinedByName(metadataKind(options), context)
  const parts = new JoinedByName(partKind(options), context)
  const add = async (model: Model): Promise<string> => {
    const counts = [
      count(await tensors.add(model, byName(model.tensors)), 'tensor'),
      count(await metadata.add(model, model.metadata), 'metadata entry'),
      count(await parts.add(model, ownParts(model, first)), 'part'),
    ]
    return counts.flat().join(', ') || 'it has nothing that was not there'
  }
  await add(first)
  const wish = statesOrientation(first) ? (orient(first, 'in-out').from ?? 'out-in') : undefined
  for (const other of others) {
    const { model, turned, from, to } = orientFor(other, wish)
    const reason = `as the linear weights of ${context.labelOf(first)} lie`
    for (const name of turned) noter(actions, 'tensor', name)('transpose', 'none', { reason, from: from!, to: to! })
    noter(actions, 'part', context.labelOf(other))('add', 'none', { requested: true, reason: await add(model) })
  }
  const joined: Model = {
    ...first,
    tensors: tensors.entries.map(([, tensor]) => tensor),
    metadata: new Map(metadata.entries),
    parts: parts.entries.map(([, part]) => part),
    files: models.flatMap(({ files }) => files),
    damageFinders: models.flatMap(({ damageFinders = [] }) => damageFinders),
  }
  return { model: joined, actions }
}

async function unpack(model: Model, { stow }: MergeOptions, actions: ActionLog): Promise<Model> {
  if (stow === false) return model
  const { model: restored, names } = await restoreStowed(model)
  for (const { subject, name } of names) noter(actions, subject, name)('restore', 'none')
  return restored
}

const fileOf = ({ files: [main] }: Model): string => main?.name ?? 'a model in memory'

/** Models by the names of their files, without folders: a plan says the same wherever it is made. */
function labeller(models: readonly Model[]): JoinContext['labelOf'] {
  const names = models.map((model) => fileOf(model).replace(/^.*[/\\]/s, ''))
  return ({ files }) => {
    const place = models.findIndex((each) => each.files === files)
    const isAlone = names.every((name, i) => i === place || name !== names[place])
    return isAlone ? names[place]! : `${names[place]} (input ${place + 1})`
  }
}

function count(items: number, what: string): string[] {
  if (items === 0) return []
  return [items === 1 ? `1 ${what}` : `${items} ${what.replace(/y$/, 'ie')}s`]
}

const byName = (tensors: readonly Tensor[]): [string, Tensor][] => tensors.map((tensor) => [tensor.name, tensor])

function tensorKind({ only, exclude, signal }: MergeOptions): Joinable<Tensor> {
  const isWanted = selector(only, exclude)
  return {
    subject: 'tensor',
    clash: mergeCodes['tensor-clash'],
    nameOf: (name) => name,
    difference: async (name, a, b) => (isWanted(name) ? tensorDifference(a, b, signal) : undefined),
  }
}

function metadataKind({ settled }: MergeOptions): Joinable<MetaValue> {
  return {
    subject: 'metadata',
    clash: mergeCodes['metadata-clash'],
    nameOf: (key) => key,
    async difference(key, a, b) {
      const isSame = settled?.includes(key) || ['same', 'type'].includes(compareMeta(a, b).sameness)
      return isSame ? undefined : 'other values'
    },
  }
}

function partKind({ without, signal }: MergeOptions): Joinable<Part> {
  return {
    subject: 'part',
    clash: mergeCodes['part-clash'],
    nameOf: (_, { kind, name }) => name ?? kind,
    async difference(_, a, b) {
      const isLeftOut = without?.some((each) => each === a.kind || each === a.name)
      return isLeftOut || (await isSamePart(a, b, signal)) ? undefined : 'other content'
    },
    together: joinSizes,
  }
}

/** What a model has of its own, for the model that it joins. */
function ownParts(from: Model, into: Model): [string, Part][] {
  return from.parts.flatMap((part, i): [string, Part][] => {
    const own = from === into ? part : ownPart(part, from, into)
    return own ? [[partKey(own, from, i), own]] : []
  })
}
