// A receipt of a conversion as an in-toto statement: the files that were written are its subjects, the receipt its predicate.
import { failWith } from '../errors/index.js'
import { signatureCodes } from './codes.js'

const statementType = 'https://in-toto.io/Statement/v1'
const predicateType = 'urn:tare:receipt:1'

/** The parts of a receipt that a statement needs. */
interface ReceiptLike {
  readonly algorithm: string
  readonly output: { readonly files: readonly { readonly name: string; readonly digest: string }[] }
}

export function receiptStatement(receipt: ReceiptLike): unknown {
  const { algorithm, output } = receipt
  const subject = output.files.map(({ name, digest }) => ({ name, digest: { [algorithm]: digest } }))
  return { _type: statementType, subject, predicateType, predicate: receipt }
}

/** The text of the receipt in a signed statement, which is still to be checked like any other receipt. */
export function receiptIn(statement: unknown, file: string): string {
  const fields = statement as {
    readonly _type?: unknown
    readonly predicateType?: unknown
    readonly predicate?: unknown
  } | null
  if (fields?._type !== statementType || fields.predicateType !== predicateType)
    failWith(signatureCodes.statement, {
      file,
      offset: 0,
      path: 'predicateType',
      message: 'this is not a signed receipt of a conversion',
    })
  return JSON.stringify(fields!.predicate)
}
