import { basename, extname } from 'node:path'
import {
  type ByteSource,
  extractPart,
  extractTensor,
  type FileLayout,
  type Finding,
  formatForOutput,
  isRemote,
  type Model,
  npyLayout,
  type ReadProof,
  restoreStowed,
  type Tensor,
  withVerifiedReads,
  writeLayout,
} from '../../../node.js'
import type { Context } from '../../context.js'
import { checkDamage, type DamageFlags, damageJson } from '../../input/damage.js'
import { escapeName, escapeText } from '../../console/escape.js'
import { formatShape, formatSize, plural } from '../../console/format-values.js'
import { assertNotInput, markOutputErrors, openGuarded } from '../../output/guarded-output.js'
import { forEachModel } from '../../input/run-inputs.js'
import { type Status, UsageError } from '../../status.js'

interface ExtractFlags extends DamageFlags {
  readonly output?: string
  readonly as?: string
  readonly slice?: string
  readonly part?: string
  readonly overwrite?: boolean
}

export default async function extract(
  context: Context,
  words: readonly string[],
  flags: ExtractFlags,
): Promise<Status> {
  const { console } = context
  const [given = '', name] = words
  const { output, as, slice, part } = flags
  if (output === undefined) throw new UsageError('say where to with -o: FILE.npy, FILE.bin or - for standard output')
  if (output === '-' && context.json) throw new UsageError('--json and -o - both want standard output')
  if ((name === undefined) === (part === undefined)) throw new UsageError('name one tensor, or a part with --part NAME')
  return forEachModel(context, [given], async (opened, input, source) => {
    await assertNotInput(output, source)
    if (part !== undefined) return extractOnePart(context, opened, input, source, output, flags)
    refuseContainer(input, name!, output)
    const { model, proof, damage } = await provenModel(context, opened, name!, flags)
    const tensor = extractTensor(model, name!, { as: as?.toLowerCase(), slice })
    const size = await write(context, model, source, layoutFor(tensor, output), output, flags)
    const { dtype, shape } = tensor
    if (context.json) {
      const extracted = { name, dtype: dtype.id, shape, order: tensor.order, bytes: tensor.data!.byteLength }
      await console.json({
        file: input,
        format: model.format,
        tensor: extracted,
        proof: proof ?? null,
        output: { name: output, size },
        ...damageJson(damage),
      })
    } else if (output !== '-')
      console.remark(
        `${escapeName(output)}: ${dtype.id} ${formatShape(shape)}, ${formatSize(size)}${describeProof(proof)}`,
      )
    return 0
  })
}

interface Proven {
  readonly model: Model
  readonly proof: ReadProof | undefined
  readonly damage: readonly Finding[]
}

/**
 * The model, with the bytes of one tensor compared to their checksums. Where the file has hashes for parts of it, a slice is compared on the
 * way, and so is all that comes from afar: nothing is fetched twice. A slice of a remote file is not worth fetching all that a checksum covers.
 */
async function provenModel(context: Context, opened: Model, name: string, flags: ExtractFlags): Promise<Proven> {
  const isSlice = flags.slice !== undefined
  const { model, proof } = flags.allowDamage
    ? { model: opened, proof: undefined }
    : await withVerifiedReads(opened, { only: name })
  const isAfar = isRemote(opened.files[0]?.name ?? '')
  const isOnTheWay = proof ? isSlice || isAfar : isSlice && isAfar
  const damage = isOnTheWay ? [] : await checkDamage(context, opened, flags, new Set([name]))
  return { model, proof, damage }
}

/** What the bytes were compared with, where the format has something to compare parts of a file with. */
function describeProof(proof: ReadProof | undefined): string {
  if (!proof) return ''
  const { against, pages, pageBytes, unprovenBytes } = proof
  if (against.length === 0) return unprovenBytes > 0 ? '; no hash to compare it with' : ''
  const checked = pageBytes > 0 ? ` (${plural(pages, 'page')})` : ''
  const rest = unprovenBytes > 0 ? `; ${formatSize(unprovenBytes)} have no hash` : ''
  return `; checked against ${escapeText(against.join(', '))}${checked}${rest}`
}

async function extractOnePart(
  context: Context,
  model: Model,
  input: string,
  source: ByteSource,
  output: string,
  flags: ExtractFlags,
): Promise<Status> {
  const { console } = context
  const damage = await checkDamage(context, model, flags)
  const { part, payload, warnings } = extractPart((await restoreStowed(model)).model, flags.part!)
  const file: FileLayout = { name: basename(output), slots: [{ kind: 'payload', path: part.kind, payload }] }
  const size = await write(context, model, source, file, output, flags)
  const name = part.name ?? part.kind
  if (context.json) {
    await console.json({
      file: input,
      format: model.format,
      part: { name, kind: part.kind },
      warnings,
      output: { name: output, size },
      ...damageJson(damage),
    })
  } else {
    for (const warning of warnings) console.remark(`warning: ${escapeText(warning)}`)
    if (output !== '-') console.remark(`${escapeName(output)}: ${escapeName(name)}, ${formatSize(size)}`)
  }
  return 0
}

async function write(
  { console, signal }: Context,
  model: Model,
  source: ByteSource,
  file: FileLayout,
  output: string,
  { overwrite }: ExtractFlags,
): Promise<number> {
  const [written] = await markOutputErrors(model, () =>
    writeLayout({ files: [file] }, () => openGuarded(output, source, { overwrite }), {
      signal,
      onProgress: console.progress.update,
    }),
  )
  return written!.size
}

/** Bare bytes under the name of a container would deceive whoever opens them. */
function refuseContainer(input: string, name: string, output: string): void {
  const format = formatForOutput(output)
  if (!(format?.capabilities.write ?? format?.exporter) || extname(output).toLowerCase() === '.npy') return
  const how = `tare convert ${input} --only ${name} -o ${output}`
  throw new UsageError(`extract writes FILE.npy or bare bytes, no ${format.title}; that is: ${how}`)
}

function layoutFor(tensor: Tensor, output: string): FileLayout {
  const name = basename(output)
  if (extname(output).toLowerCase() === '.npy') return npyLayout(tensor, name)
  return { name, slots: [{ kind: 'payload', path: tensor.name, payload: tensor.data! }] }
}
