// The tensors that differ as one table, for other programs. Metadata and parts are in the JSON.
import type { Difference, TensorDifference, TensorSide } from '../../../kit-node.js'
import { integerCell, valueCell } from '../../console/cells.js'
import type { DataTable } from '../../console/data-table.js'
import { escapeName, escapeText } from '../../console/escape.js'
import { formatShape } from '../../console/format-values.js'
import { type Cell, rightColumn } from '../../console/table.js'

export const differenceTable = ({ tensors }: Difference): DataTable => ({
  columns: [
    ...['change', 'name', 'name B', 'type A', 'type B', 'shape A', 'shape B'].map((title) => ({ title })),
    ...['differing', 'count', 'max abs', 'max rel', 'rmse', 'SNR dB', 'cosine'].map(rightColumn),
    { title: 'note' },
  ],
  rows: tensors.map(rowOf),
})

function rowOf({ change, name, a, b, values, reason, close }: TensorDifference): Cell[] {
  const both = (show: (side: TensorSide) => string): string[] => [a ? show(a) : '', b ? show(b) : '']
  const measures = values && [values.maxAbs, values.maxRel, values.rmse, values.snr, values.cosine]
  return [
    change,
    escapeName(name),
    b ? escapeName(b.name) : '',
    ...both(({ dtype }) => dtype),
    ...both(({ shape }) => formatShape(shape)),
    ...(values ? [integerCell(values.differing), integerCell(values.count)] : ['', '']),
    ...(measures?.map(valueCell) ?? Array<string>(5).fill('')),
    reason !== undefined ? escapeText(reason) : close ? 'within the tolerance' : '',
  ]
}
