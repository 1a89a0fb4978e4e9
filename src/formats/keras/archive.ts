// A `.keras` file is a zip archive: the configuration of the model, what wrote it and when, its weights in an HDF5 file, and perhaps files
// that layers need, such as vocabularies.
import { type ByteSource, decodeUtf8, MemorySource } from '../../bytes/index.js'
import { toPlainJson } from '../../content/plain-json.js'
import { strictReport, TareError } from '../../errors/index.js'
import { type MetaValue, type Model, type Opened, type Part, type ReadContext, text } from '../../model/index.js'
import { checkMembers, memberPayload } from '../../payloads/zip-payload.js'
import { parseJson } from '../../wire/index.js'
import { readMemberHead, readZip, type ZipMember } from '../../wire/zip/zip.js'
import { ownCodes as codes } from './codes.js'
import { configName, metadataName, weightsName } from './detect.js'
import { configKey, maxDepth, modelInfo } from './metadata.js'
import { checkPacked, readWeights, type Weights } from './weights.js'

/** How much of a compressed file is unpacked into memory. */
const maxUnpacked = 1 << 28
/** The configuration of a model of many layers has some megabytes. */
const maxConfig = 1 << 26

export async function readArchive(source: ByteSource, context: ReadContext): Promise<Opened> {
  const { report, extents, signal, limits, onLost } = context
  const { members } = await readZip(source, {
    report,
    extents,
    signal,
    maxDirectory: limits.indexBytes,
    onLost: onLost && ((member, reason) => onLost({ subject: 'part', name: member?.name, reason })),
  })
  const find = (name: string): ZipMember | undefined => members.find((member) => member.name === name)
  const weightsMember = find(weightsName)
  if (!weightsMember) {
    const shards = members.some(({ name }) => /\.weights\.json$/.test(name))
    const message = shards
      ? 'its weights are in several files, which is not read yet'
      : `there is no ${weightsName} in it`
    return report.fail(codes.archive, { offset: 0, path: 'file', message })
  }
  for (const { name, dataOffset: offset, storedSize: length, path, isDeflated } of members)
    if (name !== weightsName || isDeflated)
      extents?.add({
        file: source.name,
        offset,
        length,
        path: `${path}.data`,
        kind: name === weightsName ? 'data' : 'field',
      })
  const config = await readText(source, find(configName), context)
  const about = await readText(source, find(metadataName), context)
  const { contents, version } = await openWeights(source, weightsMember, context)
  const metadata = new Map<string, MetaValue>(about === undefined ? [] : entriesOf(about))
  if (config !== undefined) metadata.set(configKey, text(config))
  for (const [key, value] of contents.metadata) metadata.set(key, value)
  const { tensors } = contents
  const assets = members.filter(
    ({ name }) => ![weightsName, configName, metadataName].includes(name) && !name.endsWith('/'),
  )
  const parts = [...modelInfo(config), ...assets.map((member) => assetPart(source, member))]
  const model: Model = { format: 'keras', version, variant: 'archive', metadata, tensors, parts, files: [source] }
  const names = tensors.map(({ name }) => name)
  const tensorsIn = (member: ZipMember): readonly string[] => (member === weightsMember ? names : [])
  return {
    model,
    async check(checking) {
      await checkMembers({ source, members, tensorsIn }, checking)
      await checkPacked(contents, checking)
    },
  }
}

/** A vocabulary or another file that a layer keeps for itself. */
const assetPart = (source: ByteSource, member: ZipMember): Part => ({
  kind: 'keras.asset',
  sharing: 'private',
  name: member.name,
  value: { bytes: member.size },
  data: memberPayload(source, member),
})

/** Weights that are stored as they are stay where they are. */
async function openWeights(source: ByteSource, member: ZipMember, context: ReadContext): Promise<Weights> {
  const { name, dataOffset, size, isDeflated, path } = member
  if (!isDeflated) return readWeights(source, context, { offset: dataOffset, length: size })
  if (size > maxUnpacked) {
    const message = `it is compressed and has ${size} bytes; unpack the archive, and open ${name}`
    return context.report.fail(codes['archive-size'], { offset: dataOffset, path, message })
  }
  const inside = `${source.name}/${name}`
  const unpacked = new MemorySource(await readMemberHead(source, member, size, context.signal), inside)
  return readWeights(unpacked, { ...context, report: context.report.forFile(inside), extents: undefined })
}

/** A member that is JSON; undefined if it is missing or is not. */
async function readText(
  source: ByteSource,
  member: ZipMember | undefined,
  { report, signal }: ReadContext,
): Promise<string | undefined> {
  if (!member) return undefined
  const { dataOffset: offset, path, size } = member
  const wrong = (message: string): undefined => {
    report.report(codes.config, { offset, path, message })
  }
  if (size > maxConfig) return wrong(`it has ${size} bytes`)
  const bytes = await readMemberHead(source, member, size, signal)
  try {
    parseJson(bytes, strictReport(source.name), { path, maxDepth })
  } catch (error) {
    if (!(error instanceof TareError)) throw error
    return wrong(error.finding.message)
  }
  return decodeUtf8(bytes)
}

/** The members of an object: texts as they are, everything else as JSON. */
function entriesOf(json: string): [string, MetaValue][] {
  const root = parseJson(new TextEncoder().encode(json), strictReport(metadataName), { maxDepth })
  if (!(root instanceof Map)) return []
  return [...root].map(([key, value]) => [
    key,
    typeof value === 'string' ? text(value) : { type: 'json', value: toPlainJson(value, String) },
  ])
}
