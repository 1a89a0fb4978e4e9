// Edits for formats that change fields of a file and leave everything else as it is. The format refuses what it cannot change, so nothing
// is ever lost.
import { defaultWindow } from '../bytes/index.js'
import type { Conversion, PlanAction } from '../convert/plan.js'
import type { Setting } from '../convert/stages/typed-value.js'
import { findDamage } from '../formats/index.js'
import { countSlots, type FileLayout, fileLength, type Implementation, type Model, text } from '../model/index.js'
import { applyEdits, type EditChange, type Edits } from './apply-edits.js'
import { patchesFor } from './layout-patches.js'
import type { EditOptions, PlannedEdit } from './types.js'

export async function planFileEdit(
  source: Model,
  edits: Edits,
  editFile: NonNullable<Implementation['editFile']>,
  { name, signal, inPlace }: EditOptions,
): Promise<PlannedEdit> {
  // Such formats have no types: an entry keeps the one that it has, and a new one is text.
  const set = edits.set?.map(([key, value]): Setting => [key, value])
  applyEdits(source, edits) // refuses values that are not of the type that was given for them
  const { model, changes, added } = applyEdits(source, { ...edits, set })
  const metadata = new Map([...model.metadata, ...added.map(([key, value]) => [key, text(value)] as const)])
  const edited: Model = { ...model, metadata }
  const file = await editFile(source, edited, { name, signal })
  const [main] = source.files
  const weights = source.tensors.flatMap(({ data }) => (data?.origin?.source === main ? data! : []))
  const patch = inPlace === false ? undefined : await patchesFor(file, main!, weights, signal)
  return { changes, conversion: conversionOf(source, edited, changes, file), patch, isOfMainFile: true }
}

function conversionOf(source: Model, model: Model, changes: readonly EditChange[], file: FileLayout): Conversion {
  const size = fileLength(file)
  return {
    model,
    source,
    findDamage: (how) => findDamage(source, how),
    checks: (source.damageFinders ?? []).map((run) => ({ bytes: source.files[0]!.size, run })),
    resolved: {},
    layout: { files: [file] },
    threads: {},
    plan: {
      source: { file: source.files[0]!.name, format: source.format },
      target: source.format,
      actions: changes.map(actionOf),
      notes: [],
      loss: 'none',
      unrequestedLoss: 'none',
      size,
      files: [{ name: file.name, size }],
      peakMemory: countSlots(file).headerBytes + 2 * defaultWindow,
    },
  }
}

function actionOf({ action, name, to, type }: EditChange): PlanAction {
  const asked = { name, requested: true, ...(to !== undefined && { to }), ...(type !== undefined && { type }) } as const
  if (action === 'rename') return { subject: 'tensor', action, loss: 'none', ...asked }
  if (action === 'unset') return { subject: 'metadata', action: 'drop', loss: 'content', ...asked }
  return { subject: 'metadata', action: 'set', loss: 'none', ...asked }
}
