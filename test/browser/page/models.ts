// What tare says about files, as text that can be compared. The same functions run in a page and in Node.
import {
  BlobSource,
  type ByteSource,
  closeModel,
  hashModel,
  inspectModel,
  MemorySink,
  type Model,
  mapSource,
  openModel,
  planConversion,
  planQuantization,
  runConversion,
  TareError,
  tensorStats,
  verifySource,
} from '../../../src/kit.js'

/** A file with its neighbours, each a name and where its bytes are. */
export interface Given {
  readonly name: string
  readonly place: string
  readonly siblings: Readonly<Record<string, string>>
}

/** Where files are in the one that holds all of them. */
export type Places = Readonly<Record<string, readonly [start: number, end: number]>>

type Load = (place: string) => Blob | Promise<Blob>

export async function openGiven({ name, place, siblings }: Given, load: Load): Promise<BlobSource> {
  const others = await Promise.all(
    Object.entries(siblings).map(async ([each, where]) => [each, await load(where)] as const),
  )
  return new BlobSource(await load(place), name, new Map(others))
}

/** The verdict with every finding, and what a file is opened to. */
export async function describeFile(source: ByteSource): Promise<string> {
  const verified = await verifySource(source)
  const findings = verified.findings.map((finding) => ({ ...finding, message: withoutForeign(finding.message) }))
  const model = await openModel(source).catch(codeOf)
  const opened = typeof model === 'string' ? model : inspectModel(model)
  return asText({ ...verified, findings, opened })
}

/** All that is in a file: its map, every kind of digest and the statistics of its tensors. */
export async function examineFile(source: ByteSource): Promise<string> {
  const model = await openModel(source).catch(codeOf)
  if (typeof model === 'string') return asText(model)
  const stats = []
  for (const tensor of model.tensors) stats.push(await tensorStats(tensor).catch(codeOf))
  const text = asText({ map: await mapSource(source), hashes: await hashesOf(model), stats })
  await closeModel(model)
  return text
}

export const hashText = async (source: ByteSource): Promise<string> =>
  asText((await hashModel(await openModel(source))).tensors)

/** What the platform's own decompressor complains about is worded differently everywhere. */
const withoutForeign = (message: string): string => message.replace(/(the compressed data are damaged): .*/, '$1')

async function hashesOf(model: Model): Promise<unknown> {
  const results = []
  for (const algorithm of ['blake3', 'sha256', 'crc32'] as const) {
    for (const decoded of [false, true]) results.push(await hashModel(model, { algorithm, decoded }).catch(codeOf))
  }
  return results
}

/** A failure that is not one of ours is named with its class, so that it is not taken for one. */
export function codeOf(error: unknown): string {
  if (!(error instanceof TareError)) return `${(error as Error).name}: ${(error as Error).message}`
  const { code, offset, path } = error.finding
  return `${code} @ ${offset} ${path}`
}

export interface Wanted {
  readonly target: string
  readonly method?: string
  readonly cast?: string
  readonly extra?: Readonly<Record<string, string>>
}

/** The bytes of every file that a conversion makes, by name. */
export async function convertFile(
  source: ByteSource,
  { target, method, cast, extra }: Wanted,
): Promise<Map<string, Uint8Array>> {
  const model = await openModel(source)
  const options = { name: `out.${target}`, deterministic: true, extra, ...(cast !== undefined && { cast }) }
  const conversion =
    method === undefined
      ? await planConversion(model, target, options)
      : await planQuantization(model, target, { ...options, method, everyMatrix: true })
  const files = new Map<string, Uint8Array>()
  await runConversion(conversion, async (name) => new MemorySink(name, files), { allowLoss: 'content' })
  return files
}

/** As JSON, with the numbers and integers that it has no words for. */
export function asText(value: unknown): string {
  return JSON.stringify(value, (_, each) => {
    if (typeof each === 'bigint' || (typeof each === 'number' && !Number.isFinite(each)) || Object.is(each, -0))
      return `${typeof each} ${Object.is(each, -0) ? '-0' : each}`
    return each
  })
}
