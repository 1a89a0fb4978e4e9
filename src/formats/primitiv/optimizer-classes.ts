// An optimizer file does not say which optimizer it is for. It holds two maps, whole numbers and floats, whose keys begin with the name
// of a class: `Adam.beta1`. Keys that begin with `Optimizer.` belong to every class. What an optimizer remembers of the weights is not
// here; that is kept as statistics beside the parameters.

/** The settings that every optimizer has. */
export const commonUints: ReadonlyMap<string, number> = new Map([['Optimizer.epoch', 0]])
export const commonFloats: ReadonlyMap<string, number> = new Map([
  ['Optimizer.clip_threshold', 0],
  ['Optimizer.l2_strength', 0],
  ['Optimizer.lr_scale', 1],
])

interface OptimizerClass {
  readonly name: string
  /** All float settings with their defaults, in the order that the reference's usual build writes them. */
  readonly floats: ReadonlyMap<string, number>
}

const o = 'Optimizer'
const rows: readonly (readonly [name: string, settings: readonly (readonly [key: string, value: number])[]])[] = [
  ['SGD', [['SGD.eta', 0.1], ...common('clip_threshold', 'l2_strength', 'lr_scale')]],
  [
    'MomentumSGD',
    [['MomentumSGD.momentum', 0.9], ['MomentumSGD.eta', 0.01], ...common('clip_threshold', 'l2_strength', 'lr_scale')],
  ],
  [
    'AdaGrad',
    [...common('clip_threshold', 'l2_strength'), ['AdaGrad.eps', 1e-8], ['AdaGrad.eta', 0.001], ...common('lr_scale')],
  ],
  [
    'RMSProp',
    [
      ['RMSProp.eps', 1e-8],
      ['RMSProp.eta', 0.01],
      ...common('clip_threshold', 'l2_strength'),
      ['RMSProp.alpha', 0.9],
      ...common('lr_scale'),
    ],
  ],
  [
    'AdaDelta',
    [['AdaDelta.eps', 1e-6], ['AdaDelta.rho', 0.95], ...common('clip_threshold', 'l2_strength', 'lr_scale')],
  ],
  [
    'Adam',
    [
      ['Adam.beta2', 0.999],
      ['Adam.beta1', 0.9],
      ...common('clip_threshold'),
      ['Adam.eps', 1e-8],
      ['Adam.alpha', 0.001],
      ...common('l2_strength', 'lr_scale'),
    ],
  ],
]

function common(...names: string[]): [string, number][] {
  return names.map((name) => [`${o}.${name}`, commonFloats.get(`${o}.${name}`)!])
}

export const optimizerClasses: ReadonlyMap<string, OptimizerClass> = new Map(
  rows.map(([name, settings]) => [
    name,
    { name, floats: new Map(settings.map(([key, value]) => [key, Math.fround(value)])) },
  ]),
)

/** The prefix of the common settings before the first release with this format. */
export const prereleasePrefix = 'Trainer'

export const prefixOf = (key: string): string => (key.includes('.') ? key.slice(0, key.indexOf('.')) : '')

/** Whether a setting of this name is one that some optimizer of the reference has. */
export function isKnownSetting(key: string): boolean {
  const prefix = prefixOf(key)
  return prefix === o || prefix === prereleasePrefix || optimizerClasses.has(prefix)
}

/** The class that the keys speak of: one that the reference has, or else the only other prefix there is. */
export function recogniseClass(keys: Iterable<string>): string | undefined {
  const prefixes = new Set<string>()
  for (const key of keys) prefixes.add(prefixOf(key))
  const known = [...prefixes].filter((prefix) => optimizerClasses.has(prefix))
  if (known.length > 0) return known.length === 1 ? known[0] : undefined
  const others = [...prefixes].filter((prefix) => prefix !== '' && prefix !== o && prefix !== prereleasePrefix)
  return others.length === 1 ? others[0] : undefined
}
