// Tokens that are not UTF-8, and tokens that occur twice.
import { decodeUtf8 } from '../../bytes/index.js'
import { type TokenTable, tableOf, vocabularyOf } from '../../content/vocabulary.js'
import { fnv1a32 } from '../../digest/hasher.js'
import { maxFindings, verifyCodes } from '../../errors/index.js'
import type { CheckContext, Model } from '../../model/index.js'
import { codes } from './codes.js'

/** More tokens than this are not compared with each other: a set of them all would take too much memory. */
const maxTokens = 1 << 21

/** Makes one character of each byte, and different ones of different bytes. */
const oneByteDecoder = new TextDecoder('latin1')

export function checkTokens(model: Model, context: CheckContext): void {
  const vocabulary = vocabularyOf(model.parts)
  if (!vocabulary) return
  const table = vocabulary.table ?? tableOf(vocabulary.tokens)
  checkEncoding(table, context)
  if (table.count > maxTokens) {
    const message = `the vocabulary has ${table.count} tokens; more than ${maxTokens} are not compared with each other`
    context.report.report(verifyCodes['not-checked'], { offset: 0, path: 'vocab.tokens', message })
  } else checkRepeats(table, context)
}

function checkEncoding(table: TokenTable, { report }: CheckContext): void {
  const { bytes, starts, ends } = table.spans
  let wrong = 0
  for (let id = 0; id < table.count && wrong < maxFindings; id++) {
    const end = ends[id]!
    let at = starts[id]!
    while (at < end && bytes[at]! < 0x80) at++
    if (at === end || decodeUtf8(table.token(id)) !== undefined) continue
    wrong++
    report.report(codes['token-utf8'], { offset: 0, path: pathOf(id), message: 'not UTF-8; the bytes are kept' })
  }
}

/** Nearly always all tokens differ, and then their hashes tell: only those that share a bucket with another are compared as texts. */
function checkRepeats(table: TokenTable, { report }: CheckContext): void {
  const { bytes, starts, ends } = table.spans
  const buckets = new Uint8Array(2 ** Math.min(25, Math.ceil(Math.log2(table.count + 1)) + 4))
  const bucketOf = new Uint32Array(table.count)
  for (let id = 0; id < table.count; id++) {
    const bucket = fnv1a32(bytes, starts[id]!, ends[id]!) % buckets.length
    bucketOf[id] = bucket
    buckets[bucket] = buckets[bucket] === 0 ? 1 : 2
  }
  const known = new Map<string, number>()
  for (let id = 0; id < table.count; id++) {
    if (buckets[bucketOf[id]!] === 1) continue
    const token = oneByteDecoder.decode(table.token(id))
    const first = known.get(token)
    if (first === undefined) known.set(token, id)
    else {
      const message = `${JSON.stringify(decodeUtf8(table.token(id)) ?? token)} is token ${first} already`
      report.report(codes['duplicate-token'], { offset: 0, path: pathOf(id), message })
    }
  }
}

const pathOf = (id: number): string => `vocab.tokens[${id}]`
