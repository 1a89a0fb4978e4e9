import { mergeCodes } from './convert/codes.js'
import { deltaCodes } from './delta/codes.js'
import { editCodes } from './edit/codes.js'
import { embedCodes } from './embed/codes.js'
import {
  type Code,
  type CodeOf,
  ioCodes,
  jsonCodes,
  numberCodes,
  openCodes,
  usageCodes,
  verifyCodes,
  writeCodes,
} from './errors/index.js'
import { familyCodes } from './families/codes.js'
import { type FormatCode, formats } from './formats/index.js'
import { jobCodes } from './jobs/codes.js'
import { packCodes } from './pack/codes.js'
import { packedCodes } from './packed/codes.js'
import { remoteCodes } from './remote/index.js'
import { poolCodes } from './threads/codes.js'
import { tokenizeCodes } from './tokenize/codes.js'
import { transformCodes } from './transforms/codes.js'
import { signatureCodes } from './trust/codes.js'
import { profileCodes } from './verify/profile.js'
import { receiptCodes } from './verify/receipt-codes.js'
import { msgpackCodes } from './wire/msgpack/index.js'
import { zstdCodes } from './wire/zstd/codes.js'

const shared = [
  ioCodes,
  openCodes,
  numberCodes,
  jsonCodes,
  verifyCodes,
  writeCodes,
  usageCodes,
  mergeCodes,
  editCodes,
  poolCodes,
  transformCodes,
  familyCodes,
  packCodes,
  packedCodes,
  remoteCodes,
  tokenizeCodes,
  embedCodes,
  msgpackCodes,
  zstdCodes,
  profileCodes,
  receiptCodes,
  signatureCodes,
  jobCodes,
  deltaCodes,
] as const

/** Every code that tare can report. */
export type TareCode = CodeOf<(typeof shared)[number]> | FormatCode

/** Every code that tare can report, in the order of docs/codes.md. */
export function allCodes(): Code[] {
  const tables: readonly Readonly<Record<string, Code>>[] = [...shared, ...formats.map((format) => format.codes)]
  return tables.flatMap((table) => Object.values(table))
}
