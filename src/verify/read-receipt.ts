// Receipts are untrusted input: every field that is used is validated first.
import type { Receipt } from '../convert/receipt.js'
import { algorithms } from '../digest/index.js'
import { failWith } from '../errors/index.js'
import { countAt, listAt, objectAt, oneOf, type Refuse, textAt } from '../wire/json/fields.js'
import { receiptCodes } from './receipt-codes.js'

/** Throws `receipt/syntax`, with the path of the invalid field, unless this is a receipt. `file` is the name used in messages. */
export function parseReceipt(text: string, file: string): Receipt {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    failWith(receiptCodes.syntax, { file, offset: 0, path: '', message: `not JSON: ${(error as Error).message}` })
  }
  const refuse: Refuse = (path, message) => failWith(receiptCodes.syntax, { file, offset: 0, path, message })
  const receipt = objectAt(value, 'receipt', refuse)
  if (receipt.receipt !== 1) refuse('receipt', 'expected version 1')
  oneOf(receipt.algorithm, algorithms, 'algorithm', refuse)
  checkSide(receipt.source, 'source', refuse)
  checkSide(receipt.output, 'output', refuse)
  oneOf(receipt.loss, losses, 'loss', refuse)
  for (const [i, entry] of listAt(receipt.tensors, 'tensors', refuse).entries())
    checkEntry(entry, `tensors[${i}]`, refuse)
  for (const [i, action] of listAt(receipt.others, 'others', refuse).entries())
    textAt(objectAt(action, `others[${i}]`, refuse).name, `others[${i}].name`, refuse)
  return value as Receipt
}

const losses = ['none', 'form', 'precision', 'content'] as const

function checkSide(value: unknown, path: string, refuse: Refuse): void {
  const side = objectAt(value, path, refuse)
  textAt(side.format, `${path}.format`, refuse)
  textAt(side.fingerprint, `${path}.fingerprint`, refuse)
  for (const [i, each] of listAt(side.files, `${path}.files`, refuse).entries()) {
    const at = `${path}.files[${i}]`
    const file = objectAt(each, at, refuse)
    textAt(file.name, `${at}.name`, refuse)
    countAt(file.size, `${at}.size`, refuse)
    textAt(file.digest, `${at}.digest`, refuse)
  }
}

function checkEntry(value: unknown, path: string, refuse: Refuse): void {
  const { source, output, loss, actions } = objectAt(value, path, refuse)
  if (source !== undefined) checkTensor(source, `${path}.source`, refuse)
  if (output !== undefined) checkTensor(output, `${path}.output`, refuse)
  oneOf(loss, losses, `${path}.loss`, refuse)
  for (const [i, each] of listAt(actions, `${path}.actions`, refuse).entries()) {
    const at = `${path}.actions[${i}]`
    const action = objectAt(each, at, refuse)
    textAt(action.action, `${at}.action`, refuse)
    oneOf(action.loss, losses, `${at}.loss`, refuse)
  }
}

function checkTensor(value: unknown, path: string, refuse: Refuse): void {
  const { name, dtype, shape, digest, quant } = objectAt(value, path, refuse)
  textAt(name, `${path}.name`, refuse)
  textAt(dtype, `${path}.dtype`, refuse)
  for (const [i, dim] of listAt(shape, `${path}.shape`, refuse).entries()) countAt(dim, `${path}.shape[${i}]`, refuse)
  if (digest !== null) textAt(digest, `${path}.digest`, refuse)
  if (quant !== undefined) textAt(quant, `${path}.quant`, refuse)
}
