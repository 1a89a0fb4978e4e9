// What a worker leaves about a task: small, and the same on every machine. Digests of a file are joined from these.
import { fromBase64, toBase64 } from '../bytes/index.js'
import type { DigestPiece, TreeNode } from '../digest/pieces.js'
import { type Finding, failWith } from '../errors/index.js'
import type { DigestShare } from '../writing/ranges/range-digests.js'
import { jobCodes } from './codes.js'
import type { LookAnswer } from './looks.js'
import { anything, count, either, fields, finding, finite, list, parseAs, text, tuple } from './shapes.js'

export interface TaskResult {
  readonly task: number
  /** What the range contributes to the digests of its file. */
  readonly shares: readonly DigestShare[]
  /** What the checksums of the input say is damaged. */
  readonly damage: readonly Finding[]
  /** What looks found, if the task was some. */
  readonly answers?: readonly LookAnswer[] | undefined
  /** How long it took. */
  readonly seconds: number
}

/** What a result is called. One that says nothing but how long it took says that in its name, so that nobody has to read it. */
export function resultName({ task, shares, damage, answers, seconds }: TaskResult): string {
  const isShort = shares.length === 0 && damage.length === 0 && !answers
  return isShort ? `${task}.${Math.round(seconds * 1000)}ms` : longName(task)
}

export const longName = (task: number): string => `${task}.json`

/** What results say by their names: the seconds of those that say nothing else. */
export type KnownResults = ReadonlyMap<number, number | undefined>

export function resultsNamed(names: Iterable<string>): KnownResults {
  const known = new Map<number, number | undefined>()
  for (const name of names) {
    const [, task, seconds] = /^(\d{1,9})\.(?:json|(\d{1,12})ms)$/.exec(name) ?? []
    if (task !== undefined)
      known.set(Number(task), seconds === undefined ? known.get(Number(task)) : Number(seconds) / 1000)
  }
  return known
}

type Json = unknown

/** Of CRC-32, or of BLAKE3 and SHA-256. */
const isDigest = (length: number): boolean => length === 4 || length === 32
const isNode = (length: number): boolean => length === 32
/** Bytes of a chunk of BLAKE3. */
const isRest = (length: number): boolean => length <= 1024

const nodes = list(tuple([count, text]))
const resultShape = fields({
  job: text,
  task: count,
  seconds: finite,
  'shares?': list(tuple([count, count, count, either(text, nodes)])),
  'damage?': list(finding),
  'answers?': list(anything),
})

interface PlainResult {
  readonly job: string
  readonly task: number
  readonly seconds: number
  readonly shares?: readonly (readonly [digest: number, from: number, to: number, sum: Json])[]
  readonly damage?: readonly Finding[]
  readonly answers?: readonly LookAnswer[] | undefined
}

export function formatResult(job: string, { task, shares, damage, answers, seconds }: TaskResult): string {
  const plain: PlainResult = {
    job,
    task,
    seconds,
    ...(shares.length > 0 && { shares: shares.map(({ digest, piece }) => [digest, ...plainPiece(piece)] as const) }),
    ...(damage.length > 0 && {
      damage: damage.map(({ code, severity, message, file, offset, length, path }) => ({
        ...{ code, severity, message, file },
        ...(offset !== undefined && { offset }),
        ...(length !== undefined && { length }),
        ...(path !== undefined && { path }),
      })),
    }),
    ...(answers && { answers }),
  }
  return JSON.stringify(plain)
}

const plainPiece = ({ from, to, digest, nodes }: DigestPiece): readonly [number, number, Json] => [
  from,
  to,
  digest ? toBase64(digest) : nodes!.map(({ chunks, bytes }) => [chunks, toBase64(bytes)]),
]

/** `file` is for messages. */
export function parseResult(content: string, job: string, task: number, file: string): TaskResult {
  const complain = (path: string, message: string): never => failWith(jobCodes.result, { file, path, message })
  const found = parseAs(content, resultShape, complain) as PlainResult
  if (found.job !== job) complain('job', `it belongs to job ${found.job}`)
  if (found.task !== task) complain('task', `it is about task ${found.task}`)
  const shares = (found.shares ?? []).map(([digest, from, to, sum], i): DigestShare => {
    const bytesOf = (value: Json, isRight: (length: number) => boolean): Uint8Array => {
      const bytes = fromBase64(value as string)
      return bytes && isRight(bytes.byteLength) ? bytes : complain(`shares[${i}]`, 'this is no digest')
    }
    if (to < from) complain(`shares[${i}]`, `it ends before it begins`)
    if (typeof sum === 'string') return { digest, piece: { from, to, digest: bytesOf(sum, isDigest) } }
    const tree = (sum as readonly (readonly [number, string])[]).map(
      ([chunks, bytes]): TreeNode => ({ chunks, bytes: bytesOf(bytes, chunks === 0 ? isRest : isNode) }),
    )
    return { digest, piece: { from, to, nodes: tree } }
  })
  const { damage = [], seconds, answers } = found
  return { task, shares, damage, seconds, ...(answers && { answers }) }
}
