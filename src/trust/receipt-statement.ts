// A receipt of a conversion as an in-toto statement: the files that were written are its subjects, the receipt its predicate.
import { failWith } from '../errors/index.js'
import { listAt, objectAt, textAt } from '../wire/json/fields.js'
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

/**
 * The text of the receipt in a signed statement, which is still to be checked like any other receipt. Its output must be the subjects of the
 * statement: tools that know nothing of receipts go by those.
 */
export function receiptIn(statement: unknown, file: string): string {
  const refuse = (path: string, message: string): never =>
    failWith(signatureCodes.statement, { file, offset: 0, path, message })
  const fields = objectAt(statement, '', refuse)
  if (fields._type !== statementType || fields.predicateType !== predicateType)
    refuse('predicateType', 'this is not a signed receipt of a conversion')
  const receipt = objectAt(fields.predicate, 'predicate', refuse)
  const algorithm = textAt(receipt.algorithm, 'predicate.algorithm', refuse)
  const output = objectAt(receipt.output, 'predicate.output', refuse)
  const written = listAt(output.files, 'predicate.output.files', refuse).map((each, i) => {
    const { name, digest } = objectAt(each, `predicate.output.files[${i}]`, refuse)
    return JSON.stringify([name, digest])
  })
  const subjects = listAt(fields.subject, 'subject', refuse).map((each, i) => {
    const { name, digest } = objectAt(each, `subject[${i}]`, refuse)
    return JSON.stringify([name, objectAt(digest, `subject[${i}].digest`, refuse)[algorithm]])
  })
  if (subjects.sort().join() !== written.sort().join())
    failWith(signatureCodes.inconsistent, {
      file,
      offset: 0,
      path: 'subject',
      message: 'the subjects of the statement are other files than those that the receipt says were written',
    })
  return JSON.stringify(receipt)
}
