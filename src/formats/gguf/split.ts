// A large model can be cut into a set of files, NAME-00001-of-00003.gguf and so on. Each is a complete GGUF file with some of the tensors
// and three keys: split.no (from 0), split.count, and split.tensors.count, which counts the tensors of the whole set. Only the first has
// the other metadata. It stands for the set.
import { type ByteSource, fileNameOf } from '../../bytes/index.js'
import { shardName } from '../../content/shard-set.js'
import { isSystemFailure, type Report, strictReport, TareError } from '../../errors/index.js'
import type { Metadata, MetaValue, ReadContext } from '../../model/index.js'
import { codes } from './codes.js'
import type { GgufFile } from './structs.js'

export const splitKeys = { no: 'split.no', tensors: 'split.tensors.count', count: 'split.count' } as const
const allSplitKeys = new Set<string>(Object.values(splitKeys))

/** After this many absent files no more are looked for. */
const maxMissing = 16

interface Place {
  readonly no: number
  readonly count: number
  readonly tensors: number | undefined
}

/** Where a file stands in its set; undefined when it is not one of several. */
export function placeOf(metadata: Metadata): Place | undefined {
  const count = wholeNumber(metadata.get(splitKeys.count))
  if (count === undefined || count < 2) return undefined
  return {
    no: wholeNumber(metadata.get(splitKeys.no)) ?? 0,
    count,
    tensors: wholeNumber(metadata.get(splitKeys.tensors)),
  }
}

function wholeNumber(value: MetaValue | undefined): number | undefined {
  const number = value && 'value' in value ? Number(value.value) : Number.NaN
  return value && /^[ui]\d+$/.test(value.type) && Number.isSafeInteger(number) ? number : undefined
}

export const withoutSplitKeys = (metadata: Metadata): Metadata =>
  new Map([...metadata].filter(([key]) => !allSplitKeys.has(key)))

/** Whether the place that a file states is possible, and agrees with its name. */
export function isPlaceRight({ source }: GgufFile, { no, count }: Place, { report }: ReadContext): boolean {
  const named = parseShardName(source.name)
  const isOther = named !== undefined && (named.no !== no || named.count !== count)
  if (!isOther && no >= 0 && no < count) return true
  const name = isOther ? `, but its name says file ${named.no + 1} of ${named.count}` : ''
  const message = `the metadata say that it is file ${no + 1} of ${count}${name}`
  report.report(codes['shard-number'], { offset: 0, path: splitKeys.no, message })
  return false
}

type ReadFile = (source: ByteSource, context: ReadContext) => Promise<GgufFile>

/** Reads the rest of the set whose first file is given. */
export async function readSet(
  first: GgufFile,
  place: Place,
  readFile: ReadFile,
  context: ReadContext,
): Promise<GgufFile[]> {
  const { report } = context
  const named = parseShardName(first.source.name)
  if (!named) {
    const message = `it is the first of ${place.count} files, but the name ${JSON.stringify(first.source.name)} is not ${nameOfShard('NAME', 0, place.count)}`
    report.report(codes['shard-name'], { offset: 0, path: splitKeys.count, message })
    return [first]
  }
  const files = [first]
  try {
    let missing = 0
    for (let no = 1; no < place.count && missing < maxMissing; no++) {
      const name = nameOfShard(named.stem, no, named.count, named.suffix)
      const file = await openShard(first.source, name, readFile, context)
      if (file) files.push(file)
      else missing++
      if (file) checkPlace(file, no, place, context)
    }
    if (missing === 0) checkTensors(files, place, context)
    else sayLost(missing, files, place, context)
    return files
  } catch (error) {
    await Promise.all(files.slice(1).map((file) => file.source.close()))
    throw error
  }
}

/** Nothing says what was in an absent file, only how many tensors the others do not have. */
function sayLost(missing: number, files: readonly GgufFile[], { tensors }: Place, { onLost }: ReadContext): void {
  const held = files.reduce((sum, file) => sum + file.tensors.length, 0)
  const which = missing === 1 ? 'a file of the set is' : `${missing} files of the set are`
  const count = tensors === undefined ? '' : `: of ${tensors} tensors ${held} are left`
  onLost?.({ subject: 'tensor', reason: `${which} missing or cannot be read, and the names in it are gone${count}` })
}

/** The same report, with the first error thrown. */
const throwing = (report: Report): Report =>
  strictReport(report.file, ({ code, severity, ...details }) => report.report({ code, severity, text: '' }, details))

async function openShard(
  first: ByteSource,
  name: string,
  readFile: ReadFile,
  context: ReadContext,
): Promise<GgufFile | undefined> {
  const { report, lenient } = context
  const code = lenient ? codes['shard-missing-taken'] : codes['shard-missing']
  let source: ByteSource | undefined
  try {
    if (!first.sibling) throw new Error('this kind of input has no files beside it')
    source = await first.sibling(name)
    const own = report.forFile(source.name)
    // In lenient mode a file that cannot be read is left out, so its errors are the reason for that and not errors of the set.
    return await readFile(source, { ...context, report: lenient && !context.onLost ? throwing(own) : own })
  } catch (error) {
    await source?.close()
    if (source && report.strict && !lenient) throw error
    if (isSystemFailure(error) || (source && !(error instanceof TareError))) throw error
    const reason = error instanceof TareError ? error.finding.message : (error as Error).message
    report.report(code, { offset: 0, path: splitKeys.count, message: `${name} cannot be read: ${reason}` })
    return undefined
  }
}

function checkPlace(file: GgufFile, no: number, { count }: Place, { report }: ReadContext): void {
  const place = placeOf(file.metadata)
  if (place?.no === no && place.count === count) return
  const found = place ? `file ${place.no + 1} of ${place.count}` : 'no part of a set'
  const message = `file ${no + 1} of ${count} was expected, but it says that it is ${found}`
  report.report(codes['shard-number'], { file: file.source.name, offset: 0, path: splitKeys.no, message })
}

function checkTensors(files: readonly GgufFile[], { tensors }: Place, { report }: ReadContext): void {
  const count = files.reduce((sum, file) => sum + file.tensors.length, 0)
  if (tensors !== undefined && tensors !== count) {
    const message = `the set states ${tensors} tensors, but has ${count}`
    report.report(codes['shard-tensors'], { offset: 0, path: splitKeys.tensors, message })
  }
  const seen = new Map<string, GgufFile>()
  for (const file of files) {
    for (const { name } of file.tensors) {
      const other = seen.get(name)
      seen.set(name, file)
      if (!other) continue
      const message = `${other.source.name} has a tensor ${JSON.stringify(name)} too`
      report.report(codes['duplicate-name'], {
        file: file.source.name,
        offset: 0,
        path: `tensors[${JSON.stringify(name)}]`,
        message,
      })
    }
  }
}

const shardForm = /^(.*)-(\d{5})-of-(\d{5})(\.gguf)$/is

/** `a/NAME-00001-of-00003.gguf` without its folder, in parts. */
export function parseShardName(name: string): { stem: string; no: number; count: number; suffix: string } | undefined {
  const parts = shardForm.exec(fileNameOf(name))
  if (!parts) return undefined
  return { stem: parts[1]!, no: Number(parts[2]) - 1, count: Number(parts[3]), suffix: parts[4]! }
}

export const nameOfShard = (stem: string, no: number, count: number, suffix = '.gguf'): string =>
  shardName(stem, no, count, suffix)
