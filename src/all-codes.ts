import { mergeCodes } from './convert/codes.js'
import { editCodes } from './edit/codes.js'
import { embedCodes } from './embed/codes.js'
import {
  type Code,
  type CodeTable,
  ioCodes,
  jsonCodes,
  numberCodes,
  openCodes,
  usageCodes,
  verifyCodes,
  writeCodes,
} from './errors/index.js'
import { familyCodes } from './families/codes.js'
import { formats } from './formats/index.js'
import { packCodes } from './pack/codes.js'
import { remoteCodes } from './remote/index.js'
import { poolCodes } from './threads/codes.js'
import { tokenizeCodes } from './tokenize/codes.js'
import { transformCodes } from './transforms/codes.js'
import { profileCodes } from './verify/profile.js'
import { receiptCodes } from './verify/receipt-codes.js'
import { msgpackCodes } from './wire/msgpack/index.js'
import { zstdCodes } from './wire/zstd/codes.js'

/** Every code that tare can report, in the order of docs/codes.md. */
export function allCodes(): Code[] {
  const shared: CodeTable[] = [
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
    remoteCodes,
    tokenizeCodes,
    embedCodes,
    msgpackCodes,
    zstdCodes,
    profileCodes,
    receiptCodes,
  ]
  return [...shared, ...formats.map((format) => format.codes)].flatMap((table) => Object.values(table))
}
