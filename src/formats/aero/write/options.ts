// The choices for writing, from the values of the flags that `index.ts` declares.
import { fromHex, isPowerOfTwo } from '../../../bytes/index.js'
import { callerWord, failWith, usageCodes } from '../../../errors/index.js'
import type { WriteOptions } from '../../../model/index.js'
import { defaultPageSize } from '../hash/phsh.js'
import { defaultShardSize } from './shards.js'
import { randomUuid } from './uuid.js'

export interface Choices {
  readonly shardSize: number
  readonly alignment: number
  readonly pageSize: number | undefined
  readonly controlHash: boolean
  readonly tensorHashes: boolean
  /** Undefined: made from the content. */
  readonly uuid: Uint8Array | undefined
  readonly zstdLevel: number | undefined
  readonly partShards: number
}

/** Whether the caller asked for anything that changes how a file is laid out. */
export function asksForLayout({ shardSize, align, extra }: WriteOptions): boolean {
  const given = Object.values(extra ?? {}).some((value) => value !== undefined && value !== false)
  return shardSize !== undefined || align !== undefined || given
}

/** A file keeps the hashes that it had, unless the caller says otherwise. */
export function chooseOptions(
  options: WriteOptions,
  had: { pageSize?: number | undefined; controlHash?: boolean } = {},
): Choices {
  const { extra = {}, name } = options
  const wrong = (option: string, message: string): never =>
    failWith(usageCodes.option, { file: name, message: `${callerWord(`--${option}`, option)}: ${message}` })
  const { align = 1, shardSize = defaultShardSize } = options
  if (!isPowerOfTwo(align) || align > 2 ** 20) wrong('align', `${align} is not a power of two up to 1 MiB`)
  if (shardSize < 1) wrong('shard-size', 'a shard holds at least one byte')
  return {
    shardSize,
    alignment: align,
    pageSize: pageSizeOf(extra['page-hashes'], wrong) ?? had.pageSize,
    controlHash: extra['control-hash'] === undefined ? (had.controlHash ?? false) : extra['control-hash'] !== false,
    tensorHashes: extra['tensor-hashes'] !== 'off' && extra['tensor-hashes'] !== false,
    uuid: uuidOf(extra.uuid, wrong) ?? (options.deterministic ? undefined : randomUuid()),
    zstdLevel: inRange(extra['zstd-level'], 1, 19, 'zstd-level', wrong),
    partShards: inRange(extra['part-shards'], 1, 1_000_000, 'part-shards', wrong) ?? 4,
  }
}

type Wrong = (option: string, message: string) => never
type Value = string | number | boolean | undefined

function pageSizeOf(value: Value, wrong: Wrong): number | undefined {
  if (value === undefined || value === false) return undefined
  if (value === true || value === '') return defaultPageSize
  const size = Number(value)
  return Number.isSafeInteger(size) && size > 0 ? size : wrong('page-hashes', `${value} is not a page size`)
}

function uuidOf(value: Value, wrong: Wrong): Uint8Array | undefined {
  if (value === undefined) return undefined
  const digits = String(value).replaceAll('-', '')
  return /^[0-9a-fA-F]{32}$/.test(digits) ? fromHex(digits) : wrong('uuid', '32 hexadecimal digits were expected')
}

function inRange(value: Value, min: number, max: number, option: string, wrong: Wrong): number | undefined {
  if (value === undefined) return undefined
  const number = Number(value)
  if (Number.isInteger(number) && number >= min && number <= max) return number
  return wrong(option, `a whole number from ${min} to ${max} was expected`)
}
