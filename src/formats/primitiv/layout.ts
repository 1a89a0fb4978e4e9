// Writing, with the same bytes as the reference: numbers in their fixed forms, lengths in the shortest, parameters sorted by key. The
// reference writes statistics and settings in the order of a hash table; here they keep the order in which they were read.
import { failWith, writeCodes } from '../../errors/index.js'
import {
  type FileLayout,
  fileLength,
  type Layout,
  type Model,
  type Slot,
  slotsMadeBy,
  type Tensor,
  type WriteOptions,
} from '../../model/index.js'
import { MsgpackWriter } from '../../wire/msgpack/index.js'
import { storedShape, type WriteChoices } from './capabilities.js'
import { chooseType, typeOfName } from './file-type.js'
import { type FileType, titleOf, typeNumber } from './header.js'
import { type Entries, type Entry, planEntries, type SplitNames, type Statistic } from './keys.js'
import { joinNames } from './names.js'
import { type Configs, configsOf, findOptimizer } from './optimizer.js'

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
  const entries = planEntries(model, (extra['split-names'] as SplitNames | undefined) ?? 'auto', name)
  const file = { name, slots: slotsMadeBy(() => new FileWriter(name, type, choices).slots(entries)) }
  fileLength(file) // goes through all slots, so that what cannot be written is refused here
  // Weights and settings are two files, as programs that use the library keep them.
  return { files: configs ? [file, optimizerFile(settingsName(name), configs)] : [file] }
}

const settingsName = (name: string): string =>
  typeOfName(name) === 'optimizer' ? `${name}.optimizer` : `${name.replace(/\.[^.]*$/, '')}.optimizer`

class FileWriter {
  readonly #name: string
  readonly #type: FileType
  readonly #choices: WriteChoices
  readonly #writer = new MsgpackWriter()
  /** Those of the parameter that is being written. */
  readonly #slots: Slot[] = []

  constructor(name: string, type: FileType, choices: WriteChoices) {
    this.#name = name
    this.#type = type
    this.#choices = choices
    writeHeader(this.#writer, type)
  }

  *slots(entries: Entries): Generator<Slot, void, void> {
    if (this.#type === 'model') {
      this.#writer.u32(entries.count)
      this.#flush('header')
      for (let i = 0; i < entries.count; i++) {
        const entry = entries.at(i)
        this.#parameter(entry, `params[${JSON.stringify(joinNames(entry.key.names))}].`)
        yield* this.#slots
        this.#slots.length = 0
      }
      this.#flush('stat_count')
    } else this.#single(entries)
    this.#flush('header')
    yield* this.#slots
  }

  #single({ count, at }: Entries): void {
    const title = titleOf(this.#type)
    if (count === 0)
      refuse(this.#name, 'data', `a ${title} file holds one tensor, and there is none that it could hold`)
    if (count > 1) {
      const message = `a ${title} file holds one tensor, not ${count}; choose one with --only, or all with --file-type model`
      refuse(this.#name, 'data', message)
    }
    const entry = at(0)
    if (this.#type === 'parameter') this.#parameter(entry, '')
    else if (entry.stats.length > 0) refuse(this.#name, 'data', `a ${title} file has no place for statistics`)
    else this.#tensor(entry.tensor, '', this.#type === 'tensor')
  }

  #parameter({ key, tensor, stats }: Entry, scope: string): void {
    if (this.#type === 'model') {
      if (key.names.length === 0) {
        refuse(this.#name, tensor.name, 'a parameter in a Model needs a name; give it one with --rename s/^/name/')
      }
      this.#writer.arrayHeader(key.names.length)
      for (const [i, name] of key.names.entries()) this.#writer.str(key.raw?.[i] ?? name)
    }
    this.#tensor(tensor, `${scope}value.`)
    this.#writer.u32(stats.length)
    // Without statistics the next key follows, and goes with it: a slot costs more than the bytes in it.
    if (stats.length > 0) this.#flush(`${scope}stat_count`)
    for (const stat of stats) this.#statistic(stat, scope)
  }

  #statistic({ name, tensor }: Statistic, scope: string): void {
    this.#writer.str(name)
    this.#tensor(tensor, `${scope}stats[${JSON.stringify(tensor.stat ?? '')}].`)
  }

  #tensor(tensor: Tensor, scope: string, withData = true): void {
    const { dims, batch } = storedShape(tensor, this.#choices)
    const writer = this.#writer
    writer.arrayHeader(dims.length)
    for (const dim of dims) writer.u32(dim)
    writer.u32(batch)
    if (!withData) return
    const wanted = 4 * dims.reduce((count, dim) => count * dim, batch)
    const { data } = tensor
    if (data?.byteLength !== wanted) {
      const message = `${data?.byteLength ?? 'no'} bytes, but [${tensor.shape.join(', ')}] takes ${wanted}`
      failWith(writeCodes['layout-mismatch'], { file: this.#name, path: tensor.name, message })
    }
    writer.binHeader(wanted)
    this.#flush(`${scope}dims`)
    this.#slots.push({ kind: 'payload', path: `${scope}data`, payload: data })
  }

  /** What was written since the last payload becomes one slot. */
  #flush(path: string): void {
    if (this.#writer.length > 0) this.#slots.push({ kind: 'bytes', path, bytes: this.#writer.take() })
  }
}

function writeHeader(writer: MsgpackWriter, type: FileType): void {
  writer.u32(0)
  writer.u32(1)
  writer.u32(typeNumber(type))
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
