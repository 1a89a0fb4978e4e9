// Writing, with the same bytes as the reference: numbers in their fixed forms, lengths in the shortest, parameters sorted by key. The
// reference writes statistics and settings in the order of a hash table; here they keep the order in which they were read.
import { callerWord, failWith, writeCodes } from '../../errors/index.js'
import {
  type FileLayout,
  fileLength,
  type Layout,
  type Model,
  type Payload,
  type Slot,
  slotsMadeBy,
  type Tensor,
  type WriteOptions,
} from '../../model/index.js'
import { MsgpackWriter } from '../../wire/msgpack/index.js'
import { storedShape, type WriteChoices, type WrittenShape } from './capabilities.js'
import { chooseType, typeOfName } from './file-type.js'
import { type FileType, titleOf, typeNumber } from './header.js'
import type { Key } from './keys.js'
import { type Configs, configsOf, findOptimizer } from './optimizer/settings.js'
import { type PlannedParameters, planParameters, type SplitNames } from './plan-parameters.js'

export async function layout(model: Model, options: WriteOptions): Promise<Layout> {
  const extra = options.extra ?? {}
  const configs = configsOf(findOptimizer(model.parts), model.metadata)
  const { name } = options
  const asked = extra['file-type'] as FileType | undefined
  const { type } = chooseType(model, { name, asked, hasSettings: configs !== undefined })
  if (type === 'optimizer') {
    if (!configs)
      refuse(name, 'data', 'the model has no settings of an optimizer, and an Optimizer file holds nothing else')
    return { files: [optimizerFile(name, configs)] }
  }
  const choices: WriteChoices = { canonical: extra.canonical === true, keepBatch: extra['keep-batch'] === true, type }
  const parameters = planParameters(model, (extra['split-names'] as SplitNames | undefined) ?? 'auto', name)
  if (type !== 'model') checkSingle(parameters, type, name)
  const file = { name, slots: slotsMadeBy(() => fileSlots(parameters, type, choices, name)) }
  fileLength(file) // goes through all slots, so that what cannot be written is refused here
  // Weights and settings are two files, as programs that use the library keep them.
  return { files: configs ? [file, optimizerFile(settingsName(name), configs)] : [file] }
}

const settingsName = (name: string): string =>
  typeOfName(name) === 'optimizer' ? `${name}.optimizer` : `${name.replace(/\.[^.]*$/, '')}.optimizer`

function checkSingle({ weights, statsOf }: PlannedParameters, type: FileType, file: string): void {
  const title = titleOf(type)
  const count = weights.length
  if (count === 0) refuse(file, 'data', `a ${title} file holds one tensor, and there is none that it could hold`)
  if (count > 1) {
    const message = `a ${title} file holds one tensor, not ${count}; choose one with ${callerWord('--only', 'only')}, or all with ${callerWord('--file-type model', "'file-type': 'model'")}`
    refuse(file, 'data', message)
  }
  if (type !== 'parameter' && statsOf(weights[0]!).length > 0)
    refuse(file, 'data', `a ${title} file cannot store statistics`)
}

/** What is written between two payloads becomes one slot: a slot costs more than the bytes in it. */
function* fileSlots(
  { weights, keyOf, statsOf }: PlannedParameters,
  type: FileType,
  choices: WriteChoices,
  file: string,
): Generator<Slot, void, void> {
  const writer = new MsgpackWriter()
  const flush = (path: string): Slot => ({ kind: 'bytes', path, bytes: writer.take() })
  const tensorSlots = (tensor: Tensor, scope: string): Slot[] => {
    const payload = writeTensor(writer, tensor, choices, file)
    return [flush(`${scope}dims`), { kind: 'payload', path: `${scope}data`, payload }]
  }
  writeHeader(writer, type)
  if (type === 'model') {
    writer.u32(weights.length)
    yield flush('header')
  }
  for (const tensor of weights) {
    if (type === 'shape') writeShape(writer, storedShape(tensor, choices))
    else if (type === 'tensor') yield* tensorSlots(tensor, '')
    else {
      const key = keyOf(tensor)
      const stats = statsOf(tensor)
      const scope = type === 'model' ? `params[${JSON.stringify(key.names.join('.'))}].` : ''
      if (type === 'model') writeKey(writer, key, tensor, file)
      yield* tensorSlots(tensor, `${scope}value.`)
      writer.u32(stats.length)
      if (stats.length > 0) yield flush(`${scope}stat_count`)
      for (const { name, tensor: stat } of stats) {
        writer.str(name)
        yield* tensorSlots(stat, `${scope}stats[${JSON.stringify(stat.stat ?? '')}].`)
      }
    }
  }
  if (writer.length > 0) yield flush(type === 'model' ? 'stat_count' : 'header')
}

function writeHeader(writer: MsgpackWriter, type: FileType): void {
  writer.u32(0)
  writer.u32(1)
  writer.u32(typeNumber(type))
}

function writeKey(writer: MsgpackWriter, { names, raw }: Key, tensor: Tensor, file: string): void {
  if (names.length === 0)
    refuse(
      file,
      tensor.name,
      `a parameter in a Model needs a name; give it one with ${callerWord('--rename', 'rename')} s/^/name/`,
    )
  writer.arrayHeader(names.length)
  for (const [i, name] of names.entries()) writer.str(raw?.[i] ?? name)
}

function writeShape(writer: MsgpackWriter, { dims, batch }: WrittenShape): void {
  writer.arrayHeader(dims.length)
  for (const dim of dims) writer.u32(dim)
  writer.u32(batch)
}

/** Writes everything but the data, which is returned. */
function writeTensor(writer: MsgpackWriter, tensor: Tensor, choices: WriteChoices, file: string): Payload {
  const stored = storedShape(tensor, choices)
  writeShape(writer, stored)
  const wanted = 4 * stored.dims.reduce((count, dim) => count * dim, stored.batch)
  const { data } = tensor
  if (data?.byteLength !== wanted) {
    const message = `${data?.byteLength ?? 'no'} bytes, but [${tensor.shape.join(', ')}] takes ${wanted}`
    failWith(writeCodes['layout-mismatch'], { file, path: tensor.name, message })
  }
  writer.binHeader(wanted)
  return data
}

/** Settings that stand again come last: of two with one name the reference takes the first. */
function optimizerFile(name: string, { uints, floats, rawKeys, repeats }: Configs): FileLayout {
  const writer = new MsgpackWriter()
  writeHeader(writer, 'optimizer')
  writer.mapHeader(uints.size + repeats.uints.length)
  for (const [key, value] of [...uints, ...repeats.uints]) {
    if (!Number.isInteger(value) || value < 0 || value > 0xffff_ffff)
      outOfRange(name, `uint_configs[${JSON.stringify(key)}]`, `${value} is not in 0..4294967295`)
    writer.str(rawKeys.get(key) ?? key)
    writer.u32(value)
  }
  writer.mapHeader(floats.size + repeats.floats.length)
  for (const [key, { value, bits }] of [...floats, ...repeats.floats]) {
    if (Number.isFinite(value) && !Number.isFinite(Math.fround(value)))
      outOfRange(name, `float_configs[${JSON.stringify(key)}]`, `${value} is beyond what 32 bits can hold`)
    writer.str(rawKeys.get(key) ?? key)
    if (bits === undefined) writer.f32(value)
    else writer.f32Bits(Number(bits))
  }
  return { name, slots: [{ kind: 'bytes', path: 'header', bytes: writer.take() }] }
}

function refuse(file: string, path: string, message: string): never {
  return failWith(writeCodes['name-unsupported'], { file, path, message })
}

function outOfRange(file: string, path: string, message: string): never {
  return failWith(writeCodes['value-range'], { file, path, message })
}
