// Receipts are untrusted input: every field that is used is validated first.
import type { Receipt } from '../convert/receipt.js'
import { algorithms } from '../digest/index.js'
import { failWith } from '../errors/index.js'
import { receiptCodes } from './receipt-codes.js'

/** Throws `receipt/syntax`, with the path of the invalid field, unless this is a receipt. `file` is the name used in messages. */
export function parseReceipt(text: string, file: string): Receipt {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    failWith(receiptCodes.syntax, { file, offset: 0, path: '', message: `not JSON: ${(error as Error).message}` })
  }
  const refuse: Refuse = (path, wanted) =>
    failWith(receiptCodes.syntax, { file, offset: 0, path, message: `expected ${wanted} here` })
  const receipt = objectAt(value, 'receipt', refuse)
  if (receipt.receipt !== 1) refuse('receipt', 'version 1')
  if (!algorithms.includes(receipt.algorithm as never)) refuse('algorithm', `one of ${algorithms.join(', ')}`)
  checkSide(receipt.source, 'source', refuse)
  checkSide(receipt.output, 'output', refuse)
  checkLoss(receipt.loss, 'loss', refuse)
  for (const [i, entry] of listAt(receipt.tensors, 'tensors', refuse).entries())
    checkEntry(entry, `tensors[${i}]`, refuse)
  for (const [i, action] of listAt(receipt.others, 'others', refuse).entries())
    checkText(objectAt(action, `others[${i}]`, refuse).name, `others[${i}].name`, refuse)
  return value as Receipt
}

type Refuse = (path: string, wanted: string) => never
type Fields = Readonly<Record<string, unknown>>

function objectAt(value: unknown, path: string, refuse: Refuse): Fields {
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Fields
  return refuse(path, 'an object')
}

function listAt(value: unknown, path: string, refuse: Refuse): readonly unknown[] {
  return Array.isArray(value) ? value : refuse(path, 'a list')
}

function checkText(value: unknown, path: string, refuse: Refuse): void {
  if (typeof value !== 'string') refuse(path, 'a text')
}

function checkCount(value: unknown, path: string, refuse: Refuse): void {
  if (!Number.isSafeInteger(value) || (value as number) < 0) refuse(path, 'a whole number')
}

function checkLoss(value: unknown, path: string, refuse: Refuse): void {
  const losses = ['none', 'form', 'precision', 'content']
  if (!losses.includes(value as string)) refuse(path, `one of ${losses.join(', ')}`)
}

function checkSide(value: unknown, path: string, refuse: Refuse): void {
  const side = objectAt(value, path, refuse)
  checkText(side.format, `${path}.format`, refuse)
  checkText(side.fingerprint, `${path}.fingerprint`, refuse)
  for (const [i, each] of listAt(side.files, `${path}.files`, refuse).entries()) {
    const at = `${path}.files[${i}]`
    const file = objectAt(each, at, refuse)
    checkText(file.name, `${at}.name`, refuse)
    checkCount(file.size, `${at}.size`, refuse)
    checkText(file.digest, `${at}.digest`, refuse)
  }
}

function checkEntry(value: unknown, path: string, refuse: Refuse): void {
  const { source, output, loss, actions } = objectAt(value, path, refuse)
  if (source !== undefined) checkTensor(source, `${path}.source`, refuse)
  if (output !== undefined) checkTensor(output, `${path}.output`, refuse)
  checkLoss(loss, `${path}.loss`, refuse)
  for (const [i, each] of listAt(actions, `${path}.actions`, refuse).entries()) {
    const at = `${path}.actions[${i}]`
    const action = objectAt(each, at, refuse)
    checkText(action.action, `${at}.action`, refuse)
    checkLoss(action.loss, `${at}.loss`, refuse)
  }
}

function checkTensor(value: unknown, path: string, refuse: Refuse): void {
  const { name, dtype, shape, digest, quant } = objectAt(value, path, refuse)
  checkText(name, `${path}.name`, refuse)
  checkText(dtype, `${path}.dtype`, refuse)
  for (const [i, dim] of listAt(shape, `${path}.shape`, refuse).entries())
    checkCount(dim, `${path}.shape[${i}]`, refuse)
  if (digest !== null) checkText(digest, `${path}.digest`, refuse)
  if (quant !== undefined) checkText(quant, `${path}.quant`, refuse)
}
