import type { Model, PlannedEdit, Transfer } from '../../../kit-node.js'
import { escapeName } from '../../console/escape.js'
import { formatSize, plural } from '../../console/format-values.js'
import { describeTransfer, shownValue } from '../../output/conversion.js'
import type { EditOptions } from './index.js'

export interface Outcome {
  /** How the file was changed; `in-place` is how a dry run would do it. */
  readonly how: 'unchanged' | 'in-place' | 'patched' | 'cloned' | 'rewritten'
  /** The file that was edited or made. */
  readonly output: string
  readonly size: number
  /** Bytes that went to the disk, or to the store. */
  readonly written: number
  /** For an object: what the store copied by itself, and what was uploaded. */
  readonly transfer?: Transfer | undefined
}

/** The changes, one to a line, and how they were made. */
export function* describeEdit(
  model: Model,
  { changes, patch }: PlannedEdit,
  { how, output, size, written, transfer }: Outcome,
  options: EditOptions,
): Generator<string> {
  for (const { action, name, to, type } of changes) {
    const arrow = action === 'rename' ? `→ ${escapeName(to!)}` : to === undefined ? '' : `= ${shownValue(to, type)}`
    yield `  ${action} ${escapeName(name)} ${arrow}`.trimEnd()
  }
  const bytes = `${plural(written, 'byte')}${patch ? ` in ${plural(patch.patches.length, 'place')}` : ''}`
  const wouldBe = options.dryRun ? 'would be ' : ''
  const noRoom = options.output === undefined && !options.rewrite ? ': the layout has no room for the change' : ''
  const reason = transfer ? `: ${describeTransfer(transfer)}` : noRoom
  const said: Readonly<Record<Outcome['how'], string>> = {
    unchanged: 'it is like this already; nothing was written',
    'in-place': `would be changed in place: ${bytes}, the weights stay where they are`,
    patched: `changed in place: ${bytes}, the weights stayed where they are`,
    cloned: `changed in a copy that shares the weights: ${bytes}`,
    rewritten: `${wouldBe}rewritten, ${formatSize(size)}${reason}`,
  }
  yield `${escapeName(output)}: ${model.format}, ${said[how]}`
}
