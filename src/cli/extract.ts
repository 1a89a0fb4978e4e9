import { basename, extname } from 'node:path'
import { extractTensor, type FileLayout, npyLayout, type Tensor, writeLayout } from '../node.js'
import type { Context } from './context.js'
import { escapeName } from './escape-name.js'
import { formatShape, formatSize } from './format-values.js'
import { assertNotInput, markOutputErrors, openGuarded } from './open-guarded.js'
import { forEachModel } from './run-inputs.js'
import { type Status, UsageError } from './status.js'

interface ExtractFlags {
  readonly output?: string
  readonly as?: string
  readonly slice?: string
  readonly overwrite?: boolean
}

export default async function extract(
  context: Context,
  words: readonly string[],
  flags: ExtractFlags,
): Promise<Status> {
  const { console, signal } = context
  const [given = '', name = ''] = words
  const { output, as, slice, overwrite } = flags
  if (output === undefined) throw new UsageError('say where to with -o: FILE.npy, FILE.bin or - for standard output')
  if (output === '-' && context.json) throw new UsageError('--json and -o - both want standard output')
  return forEachModel(context, [given], async (model, input, source) => {
    const tensor = extractTensor(model, name, { as: as?.toLowerCase(), slice })
    const layout = { files: [layoutFor(tensor, output)] }
    await assertNotInput(output, source)
    const [file] = await markOutputErrors(model, () =>
      writeLayout(layout, () => openGuarded(output, source, { overwrite }), {
        signal,
        onProgress: console.progress.update,
      }),
    )
    const { dtype, shape } = tensor
    const size = file!.size
    if (context.json) {
      const extracted = { name, dtype: dtype.id, shape, order: tensor.order, bytes: tensor.data!.byteLength }
      await console.json({ file: input, format: model.format, tensor: extracted, output: { name: output, size } })
    } else if (output !== '-')
      console.remark(`${escapeName(output)}: ${dtype.id} ${formatShape(shape)}, ${formatSize(size)}`)
    return 0
  })
}

function layoutFor(tensor: Tensor, output: string): FileLayout {
  const name = basename(output)
  if (extname(output).toLowerCase() === '.npy') return npyLayout(tensor, name)
  return { name, slots: [{ kind: 'payload', path: tensor.name, payload: tensor.data! }] }
}
