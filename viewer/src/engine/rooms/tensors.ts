// What the table asks: some rows of a view, and the figures of some tensors. Sorting and filtering happen here; the page only ever has the
// rows that it shows.
import { type Model, shownDims } from 'tare/kit'
import type { Call } from '../calls.js'
import type { CallContext, Handlers } from '../serve.js'
import { requireOpened } from './models/opened.js'
import { computeFigures, figuresOf, hasFigures, type NoFigures, type TensorFigures } from './table/figures.js'
import { parseFilter } from './table/filter.js'
import { filtered, type Sorting, sorted } from './table/order.js'
import { buildTree, type TreeRow, treeRows } from './table/tree.js'

export interface TableView {
  readonly filter: string
  readonly sort: Sorting
  readonly isTree: boolean
  /** The groups of the tree that were opened or closed. */
  readonly toggled: readonly string[]
}

export interface TableRow {
  readonly index: number
  readonly name: string
  readonly type: string
  readonly shape: readonly (number | string)[]
  readonly bytes: number
  readonly figures?: TensorFigures | NoFigures | undefined
}

/** A tensor, a group of the tree, or in a tree a tensor with its place in it. */
export interface ShownRow {
  readonly tensor?: TableRow | undefined
  readonly tree?: TreeRow | undefined
}

export interface TablePage {
  readonly from: number
  readonly rows: readonly ShownRow[]
  /** Rows in all, and tensors among them with those in closed groups. */
  readonly count: number
  readonly tensors: number
  readonly bytes: number
  readonly maxBytes: number
  readonly problems: readonly string[]
  /** Tensors whose figures the filter or the order would need. */
  readonly unknown: number
}

export interface TensorsCalls {
  table: Call<
    {
      readonly model: number
      readonly view: TableView
      readonly from: number
      readonly to: number
      /** Another number asks again, because more figures are known. */
      readonly version?: number
    },
    TablePage
  >
  /** The names of all tensors that a view leaves, as many as a command line can take. */
  tableNames: Call<{ readonly model: number; readonly view: TableView; readonly max: number }, readonly string[]>
  figures: Call<{ readonly model: number; readonly indexes: readonly number[] }, readonly (TensorFigures | NoFigures)[]>
  /** Where a tensor stands in a view: the ones before and behind it. */
  neighbours: Call<
    { readonly model: number; readonly index: number; readonly view: TableView },
    { readonly before?: string | undefined; readonly after?: string | undefined }
  >
}

interface View {
  readonly key: string
  readonly order: Uint32Array
  readonly tree?: readonly TreeRow[] | undefined
  readonly bytes: number
  readonly maxBytes: number
  readonly problems: readonly string[]
  readonly unknown: number
}

/** The last view of each model: scrolling asks for it again and again. */
const views = new WeakMap<Model, View>()

function viewOf(model: Model, view: TableView): View {
  const figures = figuresOf(model)
  const filter = parseFilter(view.filter)
  const isByFigure = !['file', 'name', 'type', 'values', 'size'].includes(view.sort.by)
  const needsFigures = filter.needsFigures || isByFigure
  const key = JSON.stringify([view, needsFigures ? figures.size : 0])
  const last = views.get(model)
  if (last?.key === key) return last
  const knownOf = (index: number): TensorFigures | undefined => {
    const found = figures.get(index)
    return hasFigures(found) ? found : undefined
  }
  const chosen = filtered(model, filter, knownOf)
  const order = view.isTree ? chosen : sorted(model, chosen, view.sort, knownOf)
  let [bytes, maxBytes] = [0, 0]
  for (const i of order) {
    const size = model.tensors[i]!.data?.byteLength ?? 0
    bytes += size
    if (size > maxBytes) maxBytes = size
  }
  const isSmall = order.length <= 40
  const next: View = {
    key,
    order,
    tree: view.isTree
      ? treeRows(buildTree(model, order), new Set(view.toggled), isSmall && view.filter !== '')
      : undefined,
    bytes,
    maxBytes,
    problems: filter.problems,
    unknown: needsFigures ? model.tensors.length - figures.size : 0,
  }
  views.set(model, next)
  return next
}

function rowOf(model: Model, index: number): TableRow {
  const tensor = model.tensors[index]!
  const { name, dtype, encoding, data } = tensor
  return {
    index,
    name,
    type: (encoding ?? dtype).id,
    shape: shownDims(tensor),
    bytes: data?.byteLength ?? 0,
    figures: figuresOf(model).get(index),
  }
}

export const tensorsHandlers: Handlers = {
  table({ model: id, view, from, to }: TensorsCalls['table']['ask']): TablePage {
    const { model } = requireOpened(id)
    const { order, tree, bytes, maxBytes, problems, unknown } = viewOf(model, view)
    const rows: ShownRow[] = tree
      ? tree.slice(from, to).map((row) => ({
          tree: row,
          tensor: row.index === undefined ? undefined : rowOf(model, row.index),
        }))
      : Array.from(order.subarray(from, to), (index) => ({ tensor: rowOf(model, index) }))
    const count = tree?.length ?? order.length
    return { from, rows, count, tensors: order.length, bytes, maxBytes, problems, unknown }
  },
  tableNames({ model: id, view, max }: TensorsCalls['tableNames']['ask']) {
    const { model } = requireOpened(id)
    return Array.from(viewOf(model, view).order.subarray(0, max), (index) => model.tensors[index]!.name)
  },
  async figures({ model: id, indexes }: TensorsCalls['figures']['ask'], { signal }: CallContext) {
    const { model } = requireOpened(id)
    const found: (TensorFigures | NoFigures)[] = []
    for (const index of indexes) found.push(await computeFigures(model, index, signal))
    return found
  },
  neighbours({ model: id, index, view }: TensorsCalls['neighbours']['ask']) {
    const { model } = requireOpened(id)
    const { order } = viewOf(model, view)
    const at = order.indexOf(index)
    const nameAt = (place: number): string | undefined => {
      const found = order[place]
      return found === undefined ? undefined : model.tensors[found]!.name
    }
    return at < 0 ? {} : { before: at > 0 ? nameAt(at - 1) : undefined, after: nameAt(at + 1) }
  },
}
