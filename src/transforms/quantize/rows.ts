// Quantizes row by row to a block type of ggml: as the reference program does it, or with an importance for every column. A row is never
// cut, because its encoder may look at all of it.
import { viewOf } from '../../bytes/views.js'
import type { DType } from '../../dtypes/index.js'
import { failWith, usageCodes, writeCodes } from '../../errors/index.js'
import type { Payload, Tensor } from '../../model/index.js'
import { tensorRecipe } from '../../model/model.js'
import { decodedPayload } from '../decode.js'
import { fileOf, mapElements } from '../map-elements.js'

export interface RowSettings {
  /** The columns' weights; of a tensor of several matrices (experts) either those of each, one after another, or one set for all. */
  readonly importance?: Float32Array | undefined
  readonly isReference?: boolean | undefined
}

/** The payload of a tensor in row order, of type `to`. */
export function rowsPayload(tensor: Tensor, to: DType, settings: RowSettings): Payload {
  const { rows } = to.codec!
  const { importance, isReference } = settings
  const columns = tensor.shape.at(-1)!
  const rowsOfMatrix = tensor.shape.at(-2) ?? 1
  const refuse = (message: string): never =>
    failWith(usageCodes.option, { file: fileOf(tensor.data), path: tensor.name, message })
  const input = decodedPayload(tensor, 'f32') ?? refuse(`values of type ${tensor.dtype.id} cannot be decoded`)
  const why = whyNotWeighted(tensor.shape, to, importance)
  if (why !== undefined) refuse(why)
  const weightsOf = (row: number): Float32Array | undefined => {
    if (!importance || importance.length === columns) return importance
    const first = Math.floor(row / rowsOfMatrix) * columns
    return importance.subarray(first, first + columns)
  }
  const rowBytes = to.byteLength([columns])!
  return mapElements({
    input,
    shape: tensor.shape,
    from: { elements: 1, bytes: 4 },
    to: { elements: columns, bytes: rowBytes },
    convert(source, target, first, count) {
      const values = viewOf(Float32Array, source, count)
      for (let from = 0, at = 0; from < count; from += columns, at += rowBytes) {
        const options = { importance: weightsOf((first + from) / columns), isReference }
        const row = values.subarray(from, from + columns)
        const bad = rows!.encode(row, target.subarray(at, at + rowBytes), options)
        if (bad < 0) continue
        const weighted = options.importance ? ', or not with these importance weights' : ''
        const message = `element ${first + from + bad} is ${row[bad]}, which ${to.id} cannot hold${weighted}`
        failWith(writeCodes['value-range'], { file: fileOf(tensor.data), path: tensor.name, message })
      }
    },
    recipe() {
      const made = tensorRecipe(tensor)
      return made && { kind: 'rows', tensor: made, to: to.id, importance, isReference }
    },
  })
}

/** Why these weights do not go with a tensor of this shape; undefined if they do. */
export function whyNotWeighted(
  shape: readonly number[],
  to: DType,
  importance: Float32Array | undefined,
): string | undefined {
  if (!importance) {
    const isNeeded = to.codec?.rows?.weights === 'required'
    return isNeeded ? `${to.id} needs importance weights, and there are none for this tensor` : undefined
  }
  const columns = shape.at(-1) ?? 0
  const matrices = shape.slice(0, -2).reduce((product, size) => product * size, 1)
  if (importance.length === columns || importance.length === columns * matrices) return undefined
  const wanted = matrices === 1 ? `${columns}` : `${columns} or ${columns * matrices}`
  return `there are ${importance.length} importance weights for this tensor, and [${shape.join(', ')}] takes ${wanted}`
}
