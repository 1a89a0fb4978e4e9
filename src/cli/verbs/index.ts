// The table of verbs, in the order that help shows. Each has a folder: `index.ts` declares what it takes, `run.ts` does it, `text.ts` is
// what it prints. Every start of the command reads all declarations, so they import nothing heavy; a test holds them to it.
import type { Flags, OptionsOf } from '../flags/flag.js'
import { apply } from './apply/index.js'
import { convert } from './convert/index.js'
import { delta } from './delta/index.js'
import { diff } from './diff/index.js'
import { edit } from './edit/index.js'
import { embed } from './embed/index.js'
import { extract } from './extract/index.js'
import { fetch } from './fetch/index.js'
import { finish } from './finish/index.js'
import { hash } from './hash/index.js'
import { inspect } from './inspect/index.js'
import { map } from './map/index.js'
import { pack } from './pack/index.js'
import { picture } from './picture/index.js'
import { plan } from './plan/index.js'
import { quantize } from './quantize/index.js'
import { repair } from './repair/index.js'
import { show } from './show/index.js'
import { sign } from './sign/index.js'
import { stats } from './stats/index.js'
import { status } from './status/index.js'
import { tokenize } from './tokenize/index.js'
import type { Action, CallableVerb, Verb } from './verb.js'
import { verify } from './verify/index.js'
import { view } from './view/index.js'
import { work } from './work/index.js'
import { worker } from './worker/index.js'

/** The verbs under the titles that help gives them. */
const groups: Readonly<Record<string, readonly CallableVerb[]>> = {
  'Look inside': [
    callable(inspect, () => import('./inspect/run.js')),
    callable(view, () => import('./view/run.js')),
    callable(show, () => import('./show/run.js')),
    callable(stats, () => import('./stats/run.js')),
    callable(picture, () => import('./picture/run.js')),
    callable(map, () => import('./map/run.js')),
  ],
  'Check and compare': [
    callable(verify, () => import('./verify/run.js')),
    callable(hash, () => import('./hash/run.js')),
    callable(diff, () => import('./diff/run.js')),
    callable(sign, () => import('./sign/run.js')),
  ],
  'Convert and change': [
    callable(convert, () => import('./convert/run.js')),
    callable(quantize, () => import('./quantize/run.js')),
    callable(extract, () => import('./extract/run.js')),
    callable(edit, () => import('./edit/run.js')),
    callable(repair, () => import('./repair/run.js')),
    callable(pack, () => import('./pack/run.js')),
  ],
  Move: [
    callable(fetch, () => import('./fetch/run.js')),
    callable(delta, () => import('./delta/run.js')),
    callable(apply, () => import('./apply/run.js')),
  ],
  'Many machines': [
    callable(plan, () => import('./plan/run.js')),
    callable(work, () => import('./work/run.js')),
    callable(status, () => import('./status/run.js')),
    callable(finish, () => import('./finish/run.js')),
    callable(worker, () => import('./worker/run.js')),
  ],
  Run: [callable(tokenize, () => import('./tokenize/run.js')), callable(embed, () => import('./embed/run.js'))],
}

export const verbs: readonly CallableVerb[] = Object.entries(groups).flatMap(([group, verbs]) =>
  verbs.map((verb) => ({ ...verb, group })),
)

/** The action must take what the flags give; the parser knows the flags, not their types. */
function callable<F extends Flags>(
  verb: Verb<F>,
  load: () => Promise<{ readonly default: Action<OptionsOf<F>> }>,
): CallableVerb {
  return { ...verb, load: load as CallableVerb['load'] }
}
