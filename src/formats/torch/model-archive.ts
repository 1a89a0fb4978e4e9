// What TorchServe takes (`.mar`): a zip archive with a file of PyTorch in it, beside a handler and a manifest. The model is the file that the
// manifest names as `model.serializedFile`, or the only one there is.
import { type ByteSource, MemorySource, sliceSource } from '../../bytes/index.js'
import { checkArchive } from '../../content/torch-save/check.js'
import { codes } from '../../content/torch-save/codes.js'
import { rememberTree, treeOf } from '../../content/torch-save/tree.js'
import { collectingReport, strictReport, TareError } from '../../errors/index.js'
import type { Opened, ReadContext } from '../../model/index.js'
import { type JsonNode, parseJson } from '../../wire/index.js'
import { guessMemberNames } from '../../wire/zip/guess.js'
import { readMemberHead, readZip, type ZipMember } from '../../wire/zip/zip.js'
import { isModelMember, isNamedModel, manifestName } from './detect.js'

/** How much of a compressed file is unpacked into memory. */
const maxUnpacked = 1 << 28
/** Manifests have a few hundred bytes. */
const maxManifest = 1 << 20
/** Deflate makes no more of a byte. */
const bestRatio = 1032

/** Undefined for every other archive. `head` is how it begins. */
export async function readModelArchive(
  source: ByteSource,
  head: Uint8Array,
  context: ReadContext,
  readFile: (source: ByteSource, context: ReadContext) => Promise<Opened>,
): Promise<Opened | undefined> {
  const [first] = guessMemberNames(head)
  if (first === undefined || /^[^/]+\/(data\.pkl|version|byteorder|data\/.+)$/.test(first)) return undefined
  const member = await findModel(source, context)
  if (!member) return undefined
  const { report, extents, signal, limits } = context
  const { members } = await readZip(source, {
    report,
    extents,
    signal,
    maxDirectory: limits.indexBytes,
    onLost: context.onLost && (() => {}),
  })
  for (const { name, dataOffset: offset, storedSize: length, path } of members) {
    const kind = name === member.name ? 'data' : 'field'
    extents?.add({ file: source.name, offset, length, path: `${path}.data`, kind })
  }
  const inner = await openMember(source, member, context)
  const own = { ...context, report: report.forFile(inner.name), extents: undefined }
  const { model, check } = await readFile(inner, own)
  const tree = treeOf(inner)
  if (tree) rememberTree(source, { ...tree, isCopied: false })
  const tensorsIn = (): string[] => model.tensors.map(({ name }) => name)
  return {
    model: { ...model, files: [source] },
    async check(checking) {
      await checkArchive({ source, members: [member], tensorsIn }, checking)
      await check?.(checking)
    },
  }
}

/** The only model in it, as far as the directory can be read; what is wrong with the directory is reported when the archive is read. */
async function findModel(source: ByteSource, { signal, limits }: ReadContext): Promise<ZipMember | undefined> {
  try {
    const report = collectingReport(source.name, [])
    const { members } = await readZip(source, { report, signal, maxDirectory: limits.indexBytes })
    const named = await namedIn(source, members, signal)
    if (named) return named
    const models = members.filter(({ name }) => isModelMember(name))
    const isOther = members.some(({ name }) => /^[^/]+\/data\.pkl$/.test(name))
    return models.length === 1 && !isOther ? models[0] : undefined
  } catch (error) {
    if (error instanceof TareError && !signal?.aborted) return undefined
    throw error
  }
}

/** The member that the manifest names, where there is a manifest that names one. */
async function namedIn(
  source: ByteSource,
  members: readonly ZipMember[],
  signal: AbortSignal | undefined,
): Promise<ZipMember | undefined> {
  const manifest = members.find(({ name, size }) => name === manifestName && size <= maxManifest)
  if (!manifest) return undefined
  const root = parsed(await readMemberHead(source, manifest, manifest.size, signal))
  const model = root instanceof Map ? root.get('model') : undefined
  const file = model instanceof Map ? model.get('serializedFile') : undefined
  return members.find(({ name }) => name === file && isNamedModel(name))
}

function parsed(bytes: Uint8Array): JsonNode | undefined {
  try {
    return parseJson(bytes, strictReport(manifestName), { path: manifestName })
  } catch (error) {
    if (error instanceof TareError) return undefined
    throw error
  }
}

async function openMember(source: ByteSource, member: ZipMember, context: ReadContext): Promise<ByteSource> {
  const { name, dataOffset, size, storedSize, isDeflated, path } = member
  const inside = `${source.name}/${name}`
  if (!isDeflated) return sliceSource(source, dataOffset, size, inside)
  if (size > Math.min(maxUnpacked, bestRatio * storedSize)) {
    const message = `it is compressed and has ${size} bytes; unpack the archive, and open ${name}`
    context.report.fail(codes['archive-size'], { offset: dataOffset, path, message })
  }
  return new MemorySource(await readMemberHead(source, member, size, context.signal), inside)
}
