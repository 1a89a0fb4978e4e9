import { basename } from 'node:path'
import {
  type ByteSource,
  billOfMaterials,
  type Cut,
  closeModel,
  inspectHead,
  inspectTensor,
  isRemote,
  type Lost,
  type Model,
  openModel,
  readCut,
  summarizeModel,
  TareError,
  type Tensor,
} from '../../../kit-node.js'
import type { Console } from '../../console/console.js'
import { describeCut } from '../../console/cut.js'
import { wantsRecords } from '../../console/data-table.js'
import { escapeName } from '../../console/escape.js'
import { JsonList } from '../../console/json.js'
import type { Context } from '../../context.js'
import { damageJson, warnOfDamage } from '../../input/damage.js'
import { measureTensors } from '../../input/measure-tensors.js'
import { expandInputs, forEachInput, modelOptions, openOptions, worse } from '../../input/run-inputs.js'
import { chooseTensors, type Tensors } from '../../input/tensors.js'
import { meansCannotRun, type Status } from '../../status.js'
import type { InspectOptions } from './index.js'
import { describeLost } from './lost.js'
import { describeModel, type Row } from './text.js'

export default async function inspect(
  context: Context,
  inputs: readonly string[],
  options: InspectOptions,
): Promise<Status> {
  const found = await expandInputs(context, inputs, options)
  const status = await forEachInput(context, found.inputs, async (source, input) => {
    if (options.bom) return printBom(context, source, input)
    const { model, cut, lost } = await openOrReadCut(context, source)
    const answer = await inspectOne(context, { model, source, input, cut, lost }, options)
    await closeModel(model)
    return answer
  })
  if (!context.json && !options.bom && !wantsRecords(context.console)) mentionView(context.console, inputs)
  return worse(status, found.status)
}

async function printBom(context: Context, source: ByteSource, input: string): Promise<Status> {
  const { pool, signal, console } = context
  const model = await openModel(source, modelOptions(context))
  const name = basename(input).replace(/\.[^.]+$/, '') || 'model'
  const bom = await billOfMaterials(model, { name, pool, signal, onProgress: console.progress.update })
  await closeModel(model)
  await console.print([bom.trimEnd()])
  return 0
}

/** Somebody who reads a table on a terminal may prefer to look. */
function mentionView(console: Console, [first = '', ...others]: readonly string[]): void {
  if (!console.isTerminal || first === '-' || others.length > 0) return
  console.remark(console.errorColor.dim(`\nto see its tensors in the browser: tare view ${escapeName(first)}`))
}

interface Inspected {
  readonly model: Model
  readonly source: ByteSource
  readonly input: string
  /** Set if the file ends early. */
  readonly cut?: Cut | undefined
  readonly lost?: readonly Lost[] | undefined
}

/** Of a file that was cut off, the index is shown as far as it is there. */
async function openOrReadCut(context: Context, source: ByteSource): Promise<Pick<Inspected, 'model' | 'cut' | 'lost'>> {
  try {
    return { model: await openModel(source, { ...modelOptions(context), isSparing: isRemote(source.name) }) }
  } catch (error) {
    if (!(error instanceof TareError) || meansCannotRun(error.code)) throw error
    const read = await readCut(source, [error.finding], openOptions(context))
    if (!read) throw error
    if (!read.model) {
      if (!context.json) context.console.complain(`${read.cut.file}: ${describeCut(read.cut)}`)
      throw error
    }
    return { model: read.model, cut: read.cut, lost: read.lost }
  }
}

async function inspectOne(context: Context, inspected: Inspected, options: InspectOptions): Promise<Status> {
  const { console, signal } = context
  const { model, source, input, cut, lost } = inspected
  const summary = await summarizeModel(model, signal)
  const { parts, ...head } = {
    ...inspectHead(model),
    ...(cut && model.files.length === 1 && { size: cut.size }),
    file: input,
    summary,
  }
  const chosen = options.metadata ? [] : sorted(chooseTensors(model, options.tensors, console), model, options)
  const damage = options.stats ? await warnOfDamage(context, model, chosen) : []
  const measured = options.stats ? await measureTensors(context, source, chosen, {}) : undefined
  const rowOf = (tensor: Tensor, i: number): Row => {
    const row = inspectTensor(tensor, model.files[0]?.name ?? '')
    return measured ? { ...row, stats: measured[i]!.stats } : row
  }
  if (context.json) {
    const count = Math.min(chosen.length, options.limit ?? chosen.length)
    const tensors = new JsonList(count, (i) => rowOf(chosen.at(i)!, i))
    const missing = cut && { cut: { ...cut, lost } }
    await console.json(
      options.metadata ? { ...head, ...missing } : { ...head, parts, tensors, ...missing, ...damageJson(damage) },
    )
  } else {
    if (cut) console.complain(`${cut.file}: ${describeCut(cut)}`)
    await console.beginBlock()
    await console.print(describeModel(model, { ...head, parts }, chosen, rowOf, options, console))
    if (lost && !options.metadata) await console.print(describeLost(lost, options, console))
  }
  return cut || damage.length > 0 ? 1 : 0
}

function sorted(chosen: Tensors, { files }: Model, { sort }: InspectOptions): Tensors {
  if (sort === 'size') return chosen.toSorted((a, b) => (b.data?.byteLength ?? 0) - (a.data?.byteLength ?? 0))
  if (sort === 'name') return chosen.toSorted((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
  return sort === 'offset' ? chosen.toSorted(byOffset(files[0]?.name)) : chosen
}

/** What is in the file that was opened comes first. */
function byOffset(main: string | undefined): (a: Tensor, b: Tensor) => number {
  const fileOf = ({ data }: Tensor): string => {
    const name = data?.origin?.source.name
    return name === undefined || name === main ? '' : name
  }
  return (a, b) =>
    fileOf(a).localeCompare(fileOf(b), 'en') || (a.data?.origin?.offset ?? 0) - (b.data?.origin?.offset ?? 0)
}
