import type { Model, PlannedEdit } from '../../../kit-node.js'
import { escapeName } from '../../console/escape.js'
import { formatInteger, formatSize, plural } from '../../console/format-values.js'
import { shownValue } from '../../output/conversion.js'
import type { EditOptions } from './index.js'

export interface Outcome {
  /** How the file was changed; `in-place` is how a dry run would do it. */
  readonly how: 'unchanged' | 'in-place' | 'patched' | 'cloned' | 'rewritten'
  /** The file that was edited or made. */
  readonly output: string
  readonly size: number
  /** Bytes that went to the disk. */
  readonly written: number
}

/** The changes, one to a line, and how they were made. */
export function* describeEdit(
  model: Model,
  { changes, patch }: PlannedEdit,
  { how, output, size, written }: Outcome,
  options: EditOptions,
): Generator<string> {
  for (const { action, name, to, type } of changes) {
    const arrow = action === 'rename' ? `→ ${escapeName(to!)}` : to === undefined ? '' : `= ${shownValue(to, type)}`
    yield `  ${action} ${escapeName(name)} ${arrow}`.trimEnd()
  }
  const bytes = `${formatInteger(written)} bytes${patch ? ` in ${plural(patch.patches.length, 'place')}` : ''}`
  const wouldBe = options.dryRun ? 'would be ' : ''
  const reason = options.output === undefined && !options.rewrite ? ': the layout has no room for the change' : ''
  const said: Readonly<Record<Outcome['how'], string>> = {
    unchanged: 'it is like this already; nothing was written',
    'in-place': `would be changed in place: ${bytes}, the weights stay where they are`,
    patched: `changed in place: ${bytes}, the weights stayed where they are`,
    cloned: `changed in a copy that shares the weights: ${bytes}`,
    rewritten: `${wouldBe}rewritten, ${formatSize(size)}${reason}`,
  }
  yield `${escapeName(output)}: ${model.format}, ${said[how]}`
}
