import { basename, extname } from 'node:path'
import {
  type ByteSource,
  dtypeById,
  extractPart,
  extractTensor,
  type FileLayout,
  type Finding,
  findWeight,
  formatForOutput,
  isRemote,
  type Model,
  membersOf,
  npyLayout,
  type ReadProof,
  restoreStowed,
  type Tensor,
  unpackWeight,
  withVerifiedReads,
  writeLayout,
} from '../../../kit-node.js'
import { escapeName, escapeText } from '../../console/escape.js'
import { formatShape, formatSize, plural } from '../../console/format-values.js'
import type { Context } from '../../context.js'
import { checkDamage, damageJson } from '../../input/damage.js'
import { forEachModel } from '../../input/run-inputs.js'
import {
  assertNotInput,
  checkStdout,
  isWritable,
  markOutputErrors,
  openGuarded,
  writingTo,
} from '../../output/output.js'
import { type Status, UsageError } from '../../status.js'
import type { ExtractOptions } from './index.js'

export default async function extract(
  context: Context,
  words: readonly string[],
  options: ExtractOptions,
): Promise<Status> {
  const { console, signal } = context
  const [given = '', named] = words
  const { output, as, slice, part, overwrite } = options
  if (output === undefined) throw new UsageError('name the output with -o: FILE.npy, FILE.bin or - for standard output')
  checkStdout(context, output)
  if (named !== undefined && part !== undefined) throw new UsageError('name one tensor, or a part with --part NAME')
  // The values of a packed weight need its neighbours, and its configuration.
  const wanted = named !== undefined && as === undefined ? new Set([named]) : undefined
  const work = async (opened: Model, input: string, source: ByteSource): Promise<Status> => {
    await assertNotInput(output, [source])
    const write = async (layout: FileLayout): Promise<number> => {
      const open = () => openGuarded(output, [source], { overwrite, signal })
      const run = { signal, onProgress: console.progress.update }
      const writeIt = () => writeLayout({ files: [layout] }, open, run)
      const [written] = await markOutputErrors(opened, () => writingTo(context, [output], writeIt))
      return written!.size
    }
    if (part !== undefined) return extractOnePart(context, opened, input, { ...options, part, output }, write)
    const name = named ?? onlyTensor(opened)
    refuseContainer(input, name, output)
    const { model, proof, damage } =
      (await unpackedModel(context, opened, name, options)) ?? (await provenModel(context, opened, name, options))
    const tensor = extractTensor(model, name, { as: as?.toLowerCase(), slice })
    const size = await write(layoutFor(tensor, output))
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
  }
  return forEachModel(context, [given], work, wanted)
}

/** The tensor of a file that has no other. */
function onlyTensor({ tensors }: Model): string {
  const [only] = tensors
  if (only && tensors.length === 1) return only.name
  throw new UsageError(
    `name one of its ${plural(tensors.length, 'tensor')}, which \`tare inspect --all\` lists, or a part with --part NAME`,
  )
}

interface Proven {
  readonly model: Model
  readonly proof: ReadProof | undefined
  readonly damage: readonly Finding[]
}

/**
 * The model, with the bytes of one tensor compared with their checksums. Where the file has hashes for parts of a tensor, a slice is compared
 * while it is read, and so is everything from a remote file: nothing is fetched twice. A slice of a remote file with one checksum for the
 * whole is not compared, since all that the checksum covers would have to be fetched.
 */
async function provenModel(context: Context, opened: Model, name: string, options: ExtractOptions): Promise<Proven> {
  const isSlice = options.slice !== undefined
  const { model, proof } = options.allowDamage
    ? { model: opened, proof: undefined }
    : await withVerifiedReads(opened, { only: name })
  const isFar = isRemote(opened.files[0]?.name ?? '')
  const isComparedOnRead = proof ? isSlice || isFar : isSlice && isFar
  const damage = isComparedOnRead ? [] : await checkDamage(context, opened, options, new Set([name]))
  return { model, proof, damage }
}

/** The model with the values of a packed weight, where that is what is wanted. */
async function unpackedModel(
  context: Context,
  opened: Model,
  name: string,
  options: ExtractOptions,
): Promise<Proven | undefined> {
  const isDecoded = dtypeById(options.as?.toLowerCase() ?? '')?.kind === 'float'
  const weight = await findWeight(opened, name, isDecoded, context.signal)
  if (!weight) return undefined
  const members = new Set(membersOf(weight).map((each) => each.name))
  const damage = await checkDamage(context, opened, options, members)
  const tensors = [await unpackWeight(weight, context.signal)]
  return { model: { ...opened, tensors }, proof: undefined, damage }
}

/** What the bytes were compared with, where the format has hashes for parts of a file. */
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
  options: ExtractOptions & { readonly part: string; readonly output: string },
  write: (layout: FileLayout) => Promise<number>,
): Promise<Status> {
  const { console } = context
  const { output } = options
  const damage = await checkDamage(context, model, options)
  const { part, payload, warnings } = extractPart((await restoreStowed(model)).model, options.part)
  const size = await write({ name: basename(output), slots: [{ kind: 'payload', path: part.kind, payload }] })
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

/** Names of images, tables and texts, which raw bytes are not. */
const misleading: ReadonlySet<string> = new Set(
  'jpg jpeg gif bmp tif tiff webp pdf csv tsv json txt md html xlsx parquet mat h5'
    .split(' ')
    .map((each) => `.${each}`),
)

/** Raw bytes under the name of a container would mislead the next reader. */
function refuseContainer(input: string, name: string, output: string): void {
  const extension = extname(output).toLowerCase()
  if (extension === '.png' || extension === '.svg')
    throw new UsageError(`extract does not draw; use: tare picture ${input} ${name} -o ${output}`)
  if (misleading.has(extension))
    throw new UsageError(
      `extract cannot write ${extension} files; it writes FILE.npy for NumPy, or raw bytes under another name such as FILE.bin`,
    )
  const format = formatForOutput(output)
  if (!format || !isWritable(format) || extname(output).toLowerCase() === '.npy') return
  const how = `tare convert ${input} --only ${name} -o ${output}`
  throw new UsageError(`extract writes FILE.npy or raw bytes, not ${format.title}; use: ${how}`)
}

function layoutFor(tensor: Tensor, output: string): FileLayout {
  const name = basename(output)
  if (extname(output).toLowerCase() === '.npy') return npyLayout(tensor, name)
  return { name, slots: [{ kind: 'payload', path: tensor.name, payload: tensor.data! }] }
}
