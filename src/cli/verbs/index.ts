// The one table of verbs, in the order that help shows. The parser, `--help` and the documentation are made from it. `verbs/NAME.ts`
// says what a verb takes, `NAME.ts` beside this file does it. Every start of the command reads the table, so its files import nothing
// heavy; a test holds them to it.
import { convert } from './convert/index.js'
import { diff } from './diff/index.js'
import { edit } from './edit/index.js'
import { embed } from './embed/index.js'
import { extract } from './extract/index.js'
import { hash } from './hash/index.js'
import { inspect } from './inspect/index.js'
import { map } from './map/index.js'
import { pack } from './pack/index.js'
import { quantize } from './quantize/index.js'
import { repair } from './repair/index.js'
import { show } from './show/index.js'
import { stats } from './stats/index.js'
import { tokenize } from './tokenize/index.js'
import type { Verb } from './verb.js'
import { verify } from './verify/index.js'

export const verbs: readonly Verb[] = [
  inspect,
  verify,
  hash,
  map,
  stats,
  show,
  extract,
  convert,
  diff,
  pack,
  quantize,
  edit,
  repair,
  tokenize,
  embed,
]
