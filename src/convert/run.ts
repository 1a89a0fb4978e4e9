// Carrying a plan out. Nothing is lost that may not be, and nothing is committed that would not open again.
import type { ByteSink, ByteSource } from '../bytes/index.js'
import { callerWord, type Finding, failWith, TareError, writeCodes } from '../errors/index.js'
import { openModel, refuseDamage, requireFormat } from '../formats/index.js'
import { closeModel, isWritable, type Model, type Tensor } from '../model/index.js'
import { type WriteLayoutOptions, type WrittenFile, writeLayout } from '../writing/write-layout.js'
import { type Conversion, isWorse, type Loss, type Plan, type PlanAction } from './plan.js'

/** How a conversion is carried out. */
export interface RunOptions extends WriteLayoutOptions {
  /** The worst loss that may happen without having been asked for: changes of form are always fine. */
  readonly allowLoss?: Loss | undefined
  /**
   * Told what the checksums of the input say is damaged, before anything is written; the damage is then written as it is. Without it, damage
   * is an error.
   */
  readonly onDamage?: ((damage: readonly Finding[]) => void) | undefined
  /**
   * Called where much of what was needed so far no longer is: before the first byte is written, and before the output is opened again. With
   * hundreds of thousands of tensors, garbage that is collected there keeps the peak memory down.
   */
  readonly collectGarbage?: (() => void) | undefined
}

/** Below, what there is to collect does not matter beside the program itself. */
const manyTensors = 50_000

/** What collects garbage between two steps, where the model leaves much of it. */
export const collectorFor = (
  { tensors }: Pick<Model, 'tensors'>,
  collectGarbage: RunOptions['collectGarbage'],
): RunOptions['collectGarbage'] => (tensors.length >= manyTensors ? collectGarbage : undefined)

/** Throws `write/loss-refused` when the plan loses more than is allowed, naming the first few things that would be lost. */
export function checkLoss(plan: Plan, allowed: Loss = 'form'): void {
  if (!isWorse(plan.unrequestedLoss, allowed) || !isWorse(plan.unrequestedLoss, 'form')) return
  const lost = plan.actions.filter(
    (action) => !action.requested && isWorse(action.loss, isWorse(allowed, 'form') ? allowed : 'form'),
  )
  const named = lost
    .slice(0, 3)
    .map((action) => `${action.subject} ${JSON.stringify(action.name)}: ${action.reason ?? action.action}`)
  const more = lost.length > 3 ? ` and ${lost.length - 3} more` : ''
  const message = `${plan.unrequestedLoss} would be lost (${named.join('; ')}${more}); ${callerWord('--dry-run', 'planConversion()')} shows the plan; to proceed, add ${permissionFor(plan.unrequestedLoss, lost)}`
  failWith(writeCodes['loss-refused'], { file: plan.source.file, message })
}

/** What allows just this. Where it is only about a part or two, they can be left out by name. */
function permissionFor(loss: Loss, lost: readonly PlanAction[]): string {
  if (loss === 'precision') return callerWord('--allow-loss precision', "allowLoss: 'precision'")
  const parts = lost.length <= 2 && lost.every(({ subject }) => subject === 'part') ? lost : []
  if (parts.length === 0) return callerWord('--allow-loss', "allowLoss: 'content'")
  const names = parts.map(({ name }) => name)
  return callerWord(names.map((name) => `--without ${name}`).join(' '), `without: ${JSON.stringify(names)}`)
}

/** Carries a conversion out. Nothing is visible under the target's name until all of it is there, and until it opens again. */
export async function runConversion(
  { plan, layout, model, source, findDamage, threads }: Conversion,
  openSink: (name: string) => Promise<ByteSink>,
  options: RunOptions = {},
): Promise<WrittenFile[]> {
  const { signal, pool, onProgress } = options
  checkLoss(plan, options.allowLoss)
  const damage = await findDamage({ signal, pool, onProgress })
  if (!options.onDamage) refuseDamage(damage, source)
  else if (damage.length > 0) options.onDamage(damage)
  threads.pool = pool
  options.collectGarbage?.()
  const beforeCommit = (written: ByteSource): Promise<void> => {
    options.collectGarbage?.()
    return assertOpens(written, plan.target, layout.isMade ? undefined : model, signal)
  }
  return writeLayout(layout, openSink, { beforeCommit, ...options })
}

/** Throws unless the output opens as the format that it was written in, with the tensors that were planned, if it holds them. Closes it. */
export async function assertOpens(
  written: ByteSource,
  target: string,
  planned: Model | undefined,
  signal?: AbortSignal,
): Promise<void> {
  const file = written.name
  const refuse = (message: string, cause?: unknown): never =>
    failWith(writeCodes['not-readable'], { file, message: `it was not written: ${message}` }, { cause })
  let model: Model
  try {
    model = await openModel(written, { from: target, signal })
  } catch (error) {
    await written.close()
    // An input that could not be read meanwhile says nothing about the output.
    if (!(error instanceof TareError) || signal?.aborted || /^(io|remote)\//.test(error.code)) throw error
    return refuse(`it would not open again: ${error.message}`, error)
  }
  const [count, bytes] = [model.tensors.length, bytesOf(model.tensors)]
  await closeModel(model)
  if (!planned || !isWritable(requireFormat(target))) return
  const [wantedCount, wantedBytes] = [planned.tensors.length, bytesOf(planned.tensors)]
  if (count !== wantedCount || bytes !== wantedBytes)
    refuse(`${wantedCount} tensors with ${wantedBytes} bytes were given, ${count} with ${bytes} would come back`)
}

function bytesOf(tensors: readonly Tensor[]): number {
  let sum = 0
  for (const { data } of tensors) sum += data?.byteLength ?? 0
  return sum
}
