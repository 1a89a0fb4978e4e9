// What `tare hash` prints, and reading it back, as JSON or as text, to compare it with a model.
import { type Algorithm, algorithms, type HashResult } from '../../../kit-node.js'
import type { Console } from '../../console/console.js'
import { dataTable, wantsRecords } from '../../console/data-table.js'
import { escapeName } from '../../console/escape.js'
import { plural } from '../../console/format-values.js'

const columns = [{ title: 'digest' }, { title: 'name' }]

/** The form that `parseHashes` reads back, unless another one is asked for. */
export function* describeHashes(result: HashResult, console: Console): Generator<string> {
  if (wantsRecords(console) || console.tables.columns) {
    const rows = result.tensors.map(({ digest, name }) => [digest ?? '-', escapeName(name)])
    yield* dataTable({ columns, rows }, console, result.file)
    return
  }
  yield `# ${escapeName(result.file)} ${result.format} ${result.algorithm}${result.decoded ? ' decoded' : ''}`
  for (const { digest, name } of result.tensors) yield `${digest ?? '-'}  ${escapeName(name)}`
  yield `# fingerprint ${result.fingerprint}`
}

export interface HashRecord {
  /** As printed: in text, names are escaped. */
  readonly file: string
  readonly algorithm: Algorithm
  readonly decoded: boolean
  readonly fingerprint: string | undefined
  readonly escaped: boolean
  readonly digests: ReadonlyMap<string, string | null>
}

export interface Difference {
  readonly name: string
  readonly what: 'changed' | 'missing' | 'added' | 'fingerprint'
}

export function parseHashes(text: string): HashRecord[] {
  return text.trimStart().startsWith('{') ? parseJson(text) : parseText(text)
}

function parseJson(text: string): HashRecord[] {
  const records: HashRecord[] = []
  for (const line of text.split('\n')) {
    const value = line.trim() === '' ? undefined : tryParse(line)
    if (!isHashResult(value)) continue
    const digests = new Map(value.tensors.map(({ name, digest }) => [name, digest]))
    const { file, algorithm, fingerprint } = value
    records.push({ file, algorithm, decoded: value.decoded === true, fingerprint, escaped: false, digests })
  }
  return records
}

function tryParse(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

function isHashResult(value: unknown): value is HashResult {
  const result = value as Partial<HashResult> | null | undefined
  return (
    typeof result === 'object' && Array.isArray(result?.tensors) && algorithms.includes(result.algorithm as Algorithm)
  )
}

const headLine = /^# (.*) (\S+) (blake3|sha256|crc32)( decoded)?$/
const tensorLine = /^([0-9a-f]{8,}|-) {2}(.*)$/
const lastLine = /^# fingerprint ([0-9a-f]{8,})$/

/** Whether a text begins as `tare hash` prints it. Its other lines look like those of lists of files. */
export const isHashText = (text: string): boolean => headLine.test(text.slice(0, text.search(/\r?\n|$/)))

function parseText(text: string): HashRecord[] {
  const records: (HashRecord & { digests: Map<string, string | null>; fingerprint: string | undefined })[] = []
  for (const line of text.split(/\r?\n/)) {
    const current = records.at(-1)
    const last = lastLine.exec(line)
    const head = headLine.exec(line)
    const tensor = tensorLine.exec(line)
    if (last && current) current.fingerprint = last[1]
    else if (head) {
      const [, file = '', , algorithm, decoded] = head
      records.push({
        file,
        algorithm: algorithm as Algorithm,
        decoded: decoded !== undefined,
        fingerprint: undefined,
        escaped: true,
        digests: new Map(),
      })
    } else if (tensor && current) current.digests.set(tensor[2]!, tensor[1] === '-' ? null : tensor[1]!)
  }
  return records
}

/** The record of this input or, when there is just one, that one: models are compared under other names too. */
export function recordFor(
  records: readonly HashRecord[],
  input: string,
  wanted: { readonly algorithm?: Algorithm; readonly decoded?: boolean },
): HashRecord | undefined {
  const fitting = records.filter(
    (record) =>
      (wanted.algorithm === undefined || record.algorithm === wanted.algorithm) &&
      (wanted.decoded === undefined || record.decoded === wanted.decoded),
  )
  return (
    fitting.find((record) => record.file === (record.escaped ? escapeName(input) : input)) ??
    (fitting.length === 1 ? fitting[0] : undefined)
  )
}

export function differences(before: HashRecord, now: HashResult): Difference[] {
  const found: Difference[] = []
  const seen = new Set<string>()
  for (const { name, digest } of now.tensors) {
    const key = before.escaped ? escapeName(name) : name
    seen.add(key)
    const known = before.digests.get(key)
    if (known === undefined) found.push({ name, what: 'added' })
    else if (known !== digest) found.push({ name, what: 'changed' })
  }
  for (const name of before.digests.keys()) if (!seen.has(name)) found.push({ name, what: 'missing' })
  // Equal bytes under another type or shape show in the fingerprint only.
  if (found.length === 0 && before.fingerprint !== undefined && before.fingerprint !== now.fingerprint) {
    found.push({ name: 'the types or shapes differ although all bytes are the same', what: 'fingerprint' })
  }
  return found
}

export function* describeCheck(
  result: HashResult,
  found: readonly Difference[],
  { color }: Console,
): Generator<string> {
  for (const { name, what } of found) yield `${color.red(what)}  ${escapeName(name)}`
  const verdict = found.length === 0 ? color.green('same') : color.red(plural(found.length, 'difference'))
  yield `${color.bold(escapeName(result.file))}: ${verdict} — ${plural(result.tensors.length, 'tensor')}, ${result.algorithm}${result.decoded ? ' of decoded values' : ''}`
}
