// An optimizer file does not say which optimizer it is for. It holds two maps, whole numbers and floats, whose keys begin with the name
// of a class: `Adam.beta1`. Keys that begin with `Optimizer.` belong to every class. What an optimizer remembers of the weights is not
// here; that is kept as statistics beside the parameters.

const clip = { 'Optimizer.clip_threshold': 0 }
const l2 = { 'Optimizer.l2_strength': 0 }
const scale = { 'Optimizer.lr_scale': 1 }

/** The settings that every optimizer has, with their defaults. */
export const commonUints: ReadonlyMap<string, number> = new Map([['Optimizer.epoch', 0]])
export const commonFloats: ReadonlyMap<string, number> = new Map(Object.entries({ ...clip, ...l2, ...scale }))

/** All float settings of each class with their defaults, in the order that GNU builds of the reference write them. */
const classes: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  SGD: { 'SGD.eta': 0.1, ...clip, ...l2, ...scale },
  MomentumSGD: { 'MomentumSGD.momentum': 0.9, 'MomentumSGD.eta': 0.01, ...clip, ...l2, ...scale },
  AdaGrad: { ...clip, ...l2, 'AdaGrad.eps': 1e-8, 'AdaGrad.eta': 0.001, ...scale },
  RMSProp: { 'RMSProp.eps': 1e-8, 'RMSProp.eta': 0.01, ...clip, ...l2, 'RMSProp.alpha': 0.9, ...scale },
  AdaDelta: { 'AdaDelta.eps': 1e-6, 'AdaDelta.rho': 0.95, ...clip, ...l2, ...scale },
  Adam: { 'Adam.beta2': 0.999, 'Adam.beta1': 0.9, ...clip, 'Adam.eps': 1e-8, 'Adam.alpha': 0.001, ...l2, ...scale },
}

export const optimizerClasses: ReadonlyMap<string, ReadonlyMap<string, number>> = new Map(
  Object.entries(classes).map(([name, floats]) => [
    name,
    new Map(Object.entries(floats).map(([key, value]) => [key, Math.fround(value)])),
  ]),
)

const commonPrefix = 'Optimizer'
/** The prefix of the common settings before the first release with this format. */
export const prereleasePrefix = 'Trainer'

export const prefixOf = (key: string): string => (key.includes('.') ? key.slice(0, key.indexOf('.')) : '')

/** Whether a setting of this name is one that some optimizer of the reference has. */
export function isKnownSetting(key: string): boolean {
  const prefix = prefixOf(key)
  return prefix === commonPrefix || prefix === prereleasePrefix || optimizerClasses.has(prefix)
}

/** The class that the keys speak of: one that the reference has, or else the only other prefix there is. */
export function recogniseClass(keys: Iterable<string>): string | undefined {
  const prefixes = new Set<string>()
  for (const key of keys) prefixes.add(prefixOf(key))
  const known = [...prefixes].filter((prefix) => optimizerClasses.has(prefix))
  if (known.length > 0) return known.length === 1 ? known[0] : undefined
  const others = [...prefixes].filter(
    (prefix) => prefix !== '' && prefix !== commonPrefix && prefix !== prereleasePrefix,
  )
  return others.length === 1 ? others[0] : undefined
}
