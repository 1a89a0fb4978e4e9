// From what the file has to what the model shows. A tensor is called by its names, joined with dots, and a statistic by its parameter, a
// hash and its own name. Those texts can coincide: keys and statistics can stand twice, and names may hold dots. Then the tensor that
// the reference would use has the plain name, and a number is put behind the others. `path` and `stat` always say what is stored.
import { type ByteSource, encodeUtf8 } from '../../bytes/index.js'
import { f32 } from '../../dtypes/index.js'
import { type JsonValue, rangePayload, type Tensor } from '../../model/index.js'
import type { FieldReader, Name } from './fields.js'
import { conflicts, joinNames, type Key, sortedByKey } from './names.js'
import type { StoredParameter, StoredStat, StoredTensor } from './read-parameters.js'

/** In file order. Reports keys that no model can have, and names that cannot be told apart. */
export function toTensors(
  parameters: readonly StoredParameter[],
  source: ByteSource,
  fields: FieldReader,
  scopeOf: (key: Key) => string,
): Tensor[] {
  const repeats = checkKeys(parameters, fields, scopeOf)
  const tensors: Tensor[] = []
  const shadowed = new Set<Tensor>()
  let isAmbiguous = repeats.size > 0
  let dotted = 0
  const add = (tensor: Tensor, isShadowed: boolean): void => {
    tensors.push(tensor)
    if (isShadowed) shadowed.add(tensor)
  }
  for (const parameter of parameters) {
    const { key, value, stats } = parameter
    const repeat = repeats.get(parameter) ?? 0
    const name = joinNames(key.names)
    if (key.names.some(hasDot) && dotted++ === 0) sayDotted(parameter, fields, scopeOf)
    if (stats.length > 0 && name.includes('#')) isAmbiguous = true
    if (value.sound) add(toTensor(source, name, key, value, undefined, repeat, 0), repeat > 0)
    const seen = new Map<string, number>()
    for (const stat of stats) {
      const again = stats.length > 1 ? countName(seen, stat.name) : 0
      if (again > 0) {
        const text = JSON.stringify(stat.name.text)
        const message = `the statistic ${text} was there before; the first one counts`
        fields.say('duplicate-stat', stat.at, message, `${scopeOf(key)}stats[${text}].key`)
        isAmbiguous = true
      }
      if (stat.tensor.sound) add(toTensor(source, name, key, stat.tensor, stat, repeat, again), repeat > 0 || again > 0)
    }
  }
  const unique = isAmbiguous || dotted > 0 ? withUniqueNames(tensors, shadowed, fields) : tensors
  fields.commit()
  return unique
}

const hasDot = (name: string): boolean => name.includes('.')

function sayDotted({ key, at }: StoredParameter, fields: FieldReader, scopeOf: (key: Key) => string): void {
  const message = `the key ${JSON.stringify(key.names)} has a dot inside a name; others may as well`
  fields.say('name-separator', at, message, `${scopeOf(key)}key`)
}

/** The parameters that are not the one that counts for their key, numbered from 1. */
function checkKeys(
  parameters: readonly StoredParameter[],
  fields: FieldReader,
  scopeOf: (key: Key) => string,
): Map<StoredParameter, number> {
  const repeats = new Map<StoredParameter, number>()
  const keyOf = (parameter: StoredParameter): Key => parameter.key
  let previous: StoredParameter | undefined
  let number = 0
  for (const { kind, first, second } of conflicts(sortedByKey(parameters, keyOf), keyOf)) {
    const at = Math.max(first.at, second.at)
    const path = `${scopeOf(second.key)}key`
    if (kind === 'clash') {
      const message = `${JSON.stringify(first.key.names)} is a parameter, so no key can go on from there`
      fields.say('key-clash', at, message, path)
      continue
    }
    number = first === previous ? number + 1 : 1
    previous = second
    repeats.set(first, number)
    fields.say(
      'duplicate-key',
      at,
      `the key was there before, at 0x${first.at.toString(16)}; the last one counts`,
      path,
    )
  }
  return repeats
}

/** How often a name was there before. */
function countName(seen: Map<string, number>, name: Name): number {
  const id = name.raw ? `\ud800${name.text}` : name.text // no UTF-8 text holds half a surrogate pair
  const before = seen.get(id) ?? 0
  seen.set(id, before + 1)
  return before
}

// This runs once per tensor: the usual case is one plain object.
function toTensor(
  source: ByteSource,
  name: string,
  key: Key,
  { dims, batch, offset, length }: StoredTensor,
  stat: StoredStat | undefined,
  repeat: number,
  again: number,
): Tensor {
  const tensor: Tensor = {
    name: stat ? `${name}#${stat.name.text}` : name,
    path: key.names,
    dtype: f32,
    shape: batch === 1 ? dims : [...dims, batch],
    order: 'column',
    role: stat ? 'state' : 'weight',
    stat: stat?.name.text,
    data: rangePayload(source, offset, length),
  }
  const rawName = stat ? rawNameOf(key, stat.name) : key.raw
  const isPlain = batch === 1 && repeat === 0 && again === 0
  if (!rawName && isPlain) return tensor
  return { ...tensor, ...(rawName && { rawName }), ...(!isPlain && { extra: extraOf(batch, repeat, again) }) }
}

/** The bytes of the key's names and of the statistic's name behind them, when one of them is not UTF-8. */
function rawNameOf(key: Key, stat: Name): readonly Uint8Array[] | undefined {
  if (!key.raw && !stat.raw) return undefined
  return [...(key.raw ?? key.names.map(encodeUtf8)), stat.raw ?? encodeUtf8(stat.text)]
}

/** What the shape and the name do not say: needed to write the same file again. */
function extraOf(batch: number, repeat: number, again: number): Record<string, JsonValue> {
  return {
    ...(batch !== 1 && { batch }),
    ...(repeat > 0 && { repeat }),
    ...(again > 0 && { stat_repeat: again }),
  }
}

function withUniqueNames(tensors: readonly Tensor[], shadowed: ReadonlySet<Tensor>, fields: FieldReader): Tensor[] {
  const used = new Set<string>()
  const names = new Map<Tensor, string>()
  const claim = (tensor: Tensor): boolean => {
    let name = tensor.name
    for (let i = 2; used.has(name); i++) name = `${tensor.name}~${i}`
    used.add(name)
    names.set(tensor, name)
    return name === tensor.name
  }
  for (const tensor of tensors) {
    if (shadowed.has(tensor) || claim(tensor)) continue
    const message = `another tensor is called ${JSON.stringify(tensor.name)} as well; this one is shown as ${JSON.stringify(names.get(tensor))}`
    fields.say('name-ambiguous', tensor.data?.origin?.offset ?? 0, message, `params[${JSON.stringify(tensor.path)}]`)
  }
  for (const tensor of shadowed) claim(tensor)
  return tensors.map((tensor) => {
    const name = names.get(tensor)!
    return name === tensor.name ? tensor : { ...tensor, name }
  })
}
