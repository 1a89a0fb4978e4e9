import { decodeLossy } from '../../bytes/index.js'
import type { Format, FormatOption } from '../../model/index.js'
import { advising } from './advice.js'
import { writeCapabilities } from './capabilities.js'
import { check } from './check.js'
import { checkSet } from './check-set.js'
import { codes, setCodes } from './codes.js'
import { editInPlace } from './edit-in-place.js'
import { layout } from './layout.js'
import { layoutSet } from './layout-set.js'
import { setOptions, writeOptions } from './options.js'
import { readFile } from './read.js'
import { readSet } from './read-set.js'
import { repair } from './repair.js'
import { restorePart } from './restore-part.js'
import { readCut } from './salvage.js'
import { magic } from './structs.js'
import { verifiedPayload } from './verified-read.js'

const setSuffix = '.aeroset.json'

const checkOptions: readonly FormatOption[] = [
  {
    name: 'control',
    description: 'compare the control region with the control hash (IHSH) and leave the weights unread',
  },
]

export const aero: Format = {
  id: 'aero',
  title: 'AERO',
  extensions: ['.aero'],
  capabilities: { checksums: 'all', usual: { version: '0.1' }, write: writeCapabilities },
  codes,
  mends:
    'defects of known writers; of a cut file the whole tensors that the index still lists; of a damaged one those whose hashes are right',
  detect(head, name) {
    if (magic.every((byte, i) => head[i] === byte)) return 'yes'
    return name.toLowerCase().endsWith('.aero') ? 'maybe' : 'no'
  },
  mainFile(names) {
    if (names.some((name) => name.endsWith(setSuffix))) return undefined
    const files = names.filter((name) => name.endsWith('.aero'))
    return files.length === 1 ? files[0] : files.find((name) => name === 'model.aero')
  },
  read(source, context) {
    const own = { ...context, report: advising(context.report) }
    return context.onLost ? readCut(source, own) : readFile(source, own)
  },
  check: (model, context) => check(model, { ...context, report: advising(context.report) }),
  verifiedPayload,
  layout,
  editInPlace,
  restorePart,
  repair,
  options: { write: writeOptions, check: checkOptions },
}

export const aeroset: Format = {
  id: 'aeroset',
  title: 'AEROSET',
  extensions: [setSuffix],
  capabilities: { checksums: 'all', usual: { version: '0.1' }, write: writeCapabilities },
  codes: setCodes,
  mends: 'of a set the whole tensors of the parts that are left',
  detect(head, name) {
    const text = decodeLossy(head.subarray(0, 4096)).trimStart()
    if (text.startsWith('{') && /"name"\s*:\s*"AEROSET"/.test(text)) return 'yes'
    return name.toLowerCase().endsWith(setSuffix) ? 'maybe' : 'no'
  },
  mainFile(names) {
    const indexes = names.filter((name) => name.endsWith(setSuffix))
    return indexes.length === 1 ? indexes[0] : indexes.find((name) => name === `model${setSuffix}`)
  },
  read: (source, context) => readSet(source, { ...context, report: advising(context.report) }),
  check: (model, context) => checkSet(model, { ...context, report: advising(context.report) }),
  verifiedPayload,
  layout: layoutSet,
  restorePart,
  options: { write: setOptions, check: checkOptions },
}
