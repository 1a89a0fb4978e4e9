// The one table of verbs, in the order that help shows. The parser, `--help` and the documentation are made from it. `verbs/NAME.ts`
// says what a verb takes, `NAME.ts` beside this file does it. Every start of the command reads the table, so its files import nothing
// heavy; a test holds them to it.
import { convert } from './verbs/convert.js'
import { diff } from './verbs/diff.js'
import { edit } from './verbs/edit.js'
import { embed } from './verbs/embed.js'
import { extract } from './verbs/extract.js'
import { hash } from './verbs/hash.js'
import { inspect } from './verbs/inspect.js'
import { map } from './verbs/map.js'
import { pack } from './verbs/pack.js'
import { quantize } from './verbs/quantize.js'
import { repair } from './verbs/repair.js'
import { show } from './verbs/show.js'
import { stats } from './verbs/stats.js'
import { tokenize } from './verbs/tokenize.js'
import type { Verb } from './verbs/verb.js'
import { verify } from './verbs/verify.js'

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
