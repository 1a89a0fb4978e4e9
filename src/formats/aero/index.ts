import type { Format } from '../../model/index.js'
import { check } from './check.js'
import { codes } from './codes.js'
import { readFile } from './read.js'
import { magic } from './structs.js'

export const aero: Format = {
  id: 'aero',
  title: 'AERO',
  extensions: ['.aero'],
  capabilities: { checksums: 'all' },
  codes,
  detect(head, name) {
    if (head.byteLength >= 8 && magic.every((byte, i) => head[i] === byte)) return 'yes'
    return name.toLowerCase().endsWith('.aero') ? 'maybe' : 'no'
  },
  read: readFile,
  check,
  options: { check: [{ name: 'control', description: 'the control region only (IHSH), without the weights' }] },
}
