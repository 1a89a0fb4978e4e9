// An edit is planned like a conversion into the model's own format. Then the format is asked for a layout that changes the file in place;
// if there is none, the plan is executed as a streaming rewrite.
import type { ByteSource } from '../bytes/index.js'
import { type Conversion, planConversion } from '../convert/plan.js'
import { checkLoss } from '../convert/run.js'
import { typeToName } from '../convert/stages/typed-value.js'
import { requireFormat } from '../formats/index.js'
import { type FileLayout, type Model, stowageKey } from '../model/index.js'
import { restoreStowed } from '../stow/index.js'
import { applyEdits, type EditChange, type Edits } from './apply-edits.js'
import { type FilePatch, patchesFor } from './layout-patches.js'
import { planFileEdit } from './plan-file-edit.js'
import type { EditOptions, PlannedEdit } from './types.js'

/** Plans an edit: in place where the format and the file allow it, as a new file otherwise. */
export async function planEdit(source: Model, edits: Edits, options: EditOptions): Promise<PlannedEdit> {
  const { name, extra, signal } = options
  const { editFile } = await requireFormat(source.format).load()
  if (editFile) return planFileEdit(source, edits, editFile, options)
  // Stowed content is edited in its own form and refers to tensors by name, so it is restored and stowed again.
  const unpacked = edits.unset?.includes(stowageKey) ? source : (await restoreStowed(source)).model
  const carries = unpacked !== source
  const { model, changes, added } = applyEdits(unpacked, edits)
  const conversion = await planConversion(model, source.format, {
    name,
    set: added,
    ...(!carries && { stow: false }),
    keepOrientation: true,
    extra,
    signal,
  })
  checkLoss(conversion.plan)
  const patch = options.inPlace === false ? undefined : await findRoom(source, conversion, options)
  return { changes: changes.map((change) => asStored(change, conversion.model)), conversion, patch }
}

/** Where the format has no such type, an entry is set to text. */
function asStored({ type, ...change }: EditChange, { metadata }: Model): EditChange {
  const stored = type === undefined ? undefined : metadata.get(change.name)
  return stored ? { ...change, ...typeToName(stored) } : change
}

/** The first layout that leaves the weights in place: the format's in-place layout, or its default one if that happens to. */
async function findRoom(
  source: Model,
  { model: edited, layout }: Conversion,
  options: EditOptions,
): Promise<FilePatch | undefined> {
  const { editInPlace } = await requireFormat(source.format).load()
  const [file, ...others] = source.files as readonly [ByteSource, ...ByteSource[]]
  if (others.length > 0) return undefined
  const answers: (() => Promise<FileLayout | undefined> | FileLayout | undefined)[] = [
    () => editInPlace?.(source, edited, { name: options.name, signal: options.signal }),
    () => (layout.files.length === 1 ? layout.files[0] : undefined),
  ]
  const weights = source.tensors.flatMap(({ data }) => data ?? [])
  for (const answer of answers) {
    const candidate = await answer()
    const patch = candidate && (await patchesFor(candidate, file, weights, options.signal))
    if (patch) return patch
  }
  return undefined
}
