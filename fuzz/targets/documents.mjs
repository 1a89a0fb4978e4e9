// Documents beside the weights that others write: jobs and their results, signatures, receipts, lists of digests, rules.
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseManifest } from '../../dist/cli/verbs/hash/manifest.js'
import { formatJob, parseJob } from '../../dist/jobs/parse-job.js'
import { formatResult, parseResult } from '../../dist/jobs/result.js'
import {
  decodeUtf8,
  manifestOf,
  parseReceipt,
  readBundle,
  receiptIn,
  signatureCodes,
  signedJson,
} from '../../dist/kit.js'
import { Broken, guarded, outcomeOf } from '../oracles/broken.mjs'

const folder = fileURLToPath(new URL('../documents', import.meta.url))

/** Lines, and what stands between quotes or commas, are the pieces of a text. */
function piecesOfText(bytes) {
  const pieces = []
  let start = 0
  for (let at = 0; at < bytes.length; at++) {
    const isEnd = bytes[at] === 0x0a || bytes[at] === 0x22 || bytes[at] === 0x2c
    if (!isEnd && at + 1 < bytes.length) continue
    pieces.push({ offset: start, length: at + 1 - start, kind: 'field' })
    start = at + 1
  }
  return pieces
}

async function seedsOf(id) {
  return readdirSync(folder)
    .filter((name) => name.startsWith(`${id}-`))
    .map((name) => {
      const bytes = new Uint8Array(readFileSync(`${folder}/${name}`))
      return { bytes, name, pieces: piecesOfText(bytes) }
    })
}

/** What was signed, which changes of a signature do not reach: its bytes are base64 there. */
async function statementSeeds() {
  const signatures = await seedsOf('signature')
  return signatures.map(({ bytes, name }) => {
    const payload = new Uint8Array(readBundle(bytes, name).payload)
    return { bytes: payload, name, pieces: piecesOfText(payload) }
  })
}

/** A document is read, or refused with a finding. What was read is written and read as the same again. */
function document(id, parse, format, seeds = () => seedsOf(id)) {
  const check = async ({ bytes, name }, _random, pace) => {
    let outcome
    const value = await guarded(
      'reading',
      async () => (await parse(bytes, name)) ?? null,
      (finding) => {
        outcome = outcomeOf(finding)
      },
    )
    pace?.depthOf(outcome ?? `read ${Object.keys(value ?? {})}`)
    if (value === undefined || value === null) return 'refused'
    if (!format) return 'opened'
    const again = format(await parse(Buffer.from(format(value)), name))
    if (again !== format(value)) throw new Broken('what is written reads as the same', again.slice(0, 200))
    return 'opened'
  }
  return { id, piecesOf: piecesOfText, seeds, check }
}

const text = (bytes) => decodeUtf8(bytes) ?? '\ufffd'

/** As verifying does, but for the key. */
const signature = (bytes, name) => statement(readBundle(bytes, name).payload, name)

async function statement(bytes, name) {
  const value = signedJson(bytes, name, signatureCodes.statement, 'dsseEnvelope.payload')
  return name.includes('receipt') ? parseReceipt(receiptIn(value, name), name) : await manifestOf(value, name)
}

export const documents = [
  document('job', (bytes, name) => parseJob(text(bytes), name), formatJob),
  document(
    'result',
    (bytes, name) => parseResult(text(bytes), 'c0ffee0123456789', 1, name),
    (result) => formatResult('c0ffee0123456789', result),
  ),
  document('signature', signature),
  document('statement', statement, undefined, statementSeeds),
  document('receipt', (bytes, name) => parseReceipt(text(bytes), name)),
  document('digests', async (bytes, name) => parseManifest(text(bytes), name)),
]
