// Reads the settings of an optimizer from JSON. All members may be left out. Settings that a class has and the text lacks get the
// reference's defaults, since older releases refuse a file without them: `{"class": "Adam"}` is enough for a whole file.
import { type ByteSource, compareBytes, decodeUtf8, fromHex, toHex } from '../../../bytes/index.js'
import type { Code } from '../../../errors/index.js'
import type { MetaValue, Model, ReadContext } from '../../../model/index.js'
import { JsonScanner, memberPath } from '../../../wire/index.js'
import { settingsCodes as codes } from '../codes.js'
import { shownText } from '../keys.js'
import { commonUints, optimizerClasses, prefixOf, recogniseClass } from './classes.js'
import { optimizerPart, settingsId } from './settings.js'
import { quietNan } from './write-json.js'

/** Far more than the settings of any optimizer take. */
const maxBytes = 1 << 24

export async function readSettings(source: ByteSource, context: ReadContext): Promise<Model> {
  const { report, limits, signal } = context
  const max = Math.min(maxBytes, limits.indexBytes)
  if (source.size > max) {
    const message = `the text has ${source.size} bytes, ${max} is the maximum`
    report.fail(codes.size, { offset: 0, path: 'file', message })
  }
  const bytes = await source.read(0, source.size, { signal })
  return new SettingsReader(bytes, source, context).read()
}

const memberNames = ['class', 'uint', 'float', 'bytes'] as const
type MemberName = (typeof memberNames)[number]

class SettingsReader {
  readonly #scanner: JsonScanner
  readonly #source: ByteSource
  readonly #context: ReadContext
  readonly #uints = new Map<string, number>()
  readonly #floats = new Map<string, number>()
  readonly #nanBits = new Map<string, bigint>()
  readonly #rawKeys = new Map<string, Uint8Array>()
  #class: string | null = null
  /** Where the byte map has got to. */
  #reached = 0

  constructor(bytes: Uint8Array, source: ByteSource, context: ReadContext) {
    this.#scanner = new JsonScanner(bytes, context.report)
    this.#source = source
    this.#context = context
  }

  read(): Model {
    const scanner = this.#scanner
    if (scanner.peek('') !== 'object') this.#fail(codes.field, '', 'an object was expected')
    this.#members('', (name) => {
      if (!isMember(name)) this.#fail(codes.field, memberPath('', name), `only ${memberNames.join(', ')} are known`)
      this.#member(name)
    })
    this.#record('end', scanner.end(''))
    this.#checkClass()
    this.#complete()
    return this.#model()
  }

  #member(name: MemberName): void {
    const scanner = this.#scanner
    if (name === 'class') {
      this.#class = this.#className()
      this.#record(name, scanner.index, this.#class ?? 'null')
      return
    }
    if (scanner.peek(name) !== 'object') this.#fail(codes.field, name, 'an object was expected')
    this.#members(name, (key) => {
      const path = memberPath(name, key)
      const value = name === 'uint' ? this.#uint(key, path) : name === 'float' ? this.#float(key, path) : this.#raw(key)
      this.#record(path, scanner.index, value)
    })
  }

  /** Goes over the members of an object; a key that occurs twice is an error in any JSON here. */
  #members(path: string, visit: (key: string) => void): void {
    const scanner = this.#scanner
    const seen = new Set<string>()
    scanner.beginObject(path)
    for (;;) {
      const key = scanner.nextKey(path)
      if (key === undefined) return
      if (seen.has(key)) this.#fail(codes['duplicate-key'], memberPath(path, key), 'the key stands here again')
      seen.add(key)
      visit(key)
    }
  }

  #className(): string | null {
    const scanner = this.#scanner
    const kind = scanner.peek('class')
    if (kind === 'string') return scanner.string('class')
    if (kind !== 'null') this.#fail(codes.field, 'class', 'a name or null was expected')
    scanner.literal('null', 'class')
    return null
  }

  #uint(key: string, path: string): number {
    const scanner = this.#scanner
    if (scanner.peek(path) !== 'number') this.#fail(codes.field, path, 'a whole number was expected')
    const at = scanner.index
    const value = Number(scanner.number(path))
    if (!Number.isInteger(value) || value < 0 || value > 0xffff_ffff)
      this.#fail(codes.range, path, `${value} is not a whole number in 0..4294967295`, at)
    this.#uints.set(key, value)
    return value
  }

  #float(key: string, path: string): number {
    const scanner = this.#scanner
    const kind = scanner.peek(path)
    const at = scanner.index
    const number =
      kind === 'number' ? Number(scanner.number(path)) : kind === 'string' ? this.#special(key, path) : undefined
    if (number === undefined)
      return this.#fail(codes.field, path, 'a number, "NaN", "Infinity" or "-Infinity" was expected', at)
    const value = Math.fround(number)
    if (kind === 'number' && !Number.isFinite(value))
      this.#fail(codes.range, path, `${number} is beyond what 32 bits can hold`, at)
    this.#floats.set(key, value)
    return value
  }

  /** What JSON has no number for. A NaN may state its bits: `NaN:7fa00001`. */
  #special(key: string, path: string): number | undefined {
    const text = this.#scanner.string(path)
    if (text === 'Infinity' || text === '-Infinity') return Number(text)
    const digits = text === 'NaN' ? quietNan.toString(16) : /^NaN:([0-9a-f]{8})$/.exec(text)?.[1]
    if (digits === undefined) return undefined
    const bits = BigInt(`0x${digits}`)
    bitScratch[0] = Number(bits)
    if (!Number.isNaN(floatScratch[0])) return undefined
    this.#nanBits.set(key, bits)
    return Number.NaN
  }

  #raw(key: string): string {
    const path = memberPath('bytes', key)
    if (this.#scanner.peek(path) !== 'string') this.#fail(codes.field, path, 'hexadecimal digits were expected')
    const at = this.#scanner.index
    const text = this.#scanner.string(path)
    const bytes = fromHex(text)
    // Bytes that are UTF-8 would make two ways to write one key.
    if (toHex(bytes) !== text.toLowerCase() || decodeUtf8(bytes) !== undefined)
      this.#fail(codes.field, path, 'the hexadecimal digits of a key that is not UTF-8 were expected', at)
    for (const [other, raw] of this.#rawKeys)
      if (compareBytes(raw, bytes) === 0)
        this.#fail(codes.field, path, `these are the bytes of ${JSON.stringify(other)} as well`, at)
    this.#rawKeys.set(key, bytes)
    return text
  }

  #checkClass(): void {
    const { report } = this.#context
    const place = { offset: 0, path: 'class' }
    for (const [key, raw] of this.#rawKeys) {
      const place = { offset: 0, path: memberPath('bytes', key) }
      if (!this.#uints.has(key) && !this.#floats.has(key))
        report.fail(codes.field, { ...place, message: 'there is no such setting' })
      // Tildes at the end tell a key from another one with its text.
      const shown = shownText(raw)
      if (!key.startsWith(shown) || !/^~*$/.test(key.slice(shown.length)))
        report.fail(codes.field, { ...place, message: `these are the bytes of ${JSON.stringify(shown)}` })
    }
    const name = this.#class
    if (name === null || optimizerClasses.has(name)) {
      const spoken = recogniseClass(this.#keys())
      if (name === null || spoken === undefined || spoken === name) return
      const message = `the class is ${JSON.stringify(name)}, but the settings speak of ${JSON.stringify(spoken)}`
      report.report(codes['class-differs'], { ...place, message })
      return
    }
    if (this.#keys().some((key) => prefixOf(key) === name)) return
    const known = [...optimizerClasses.keys()].join(', ')
    const message = `${JSON.stringify(name)} is none of ${known}, and no setting begins with "${name}."`
    report.fail(codes.class, { ...place, message })
  }

  #keys(): string[] {
    return [...this.#floats.keys(), ...this.#uints.keys()]
  }

  #complete(): void {
    const name = this.#class ?? recogniseClass(this.#keys()) ?? ''
    const known = optimizerClasses.get(name)
    if (!known) return
    const added: string[] = []
    const fill = (from: ReadonlyMap<string, number>, into: Map<string, number>): void => {
      for (const [key, value] of from) {
        if (into.has(key)) continue
        into.set(key, value)
        added.push(key)
      }
    }
    fill(commonUints, this.#uints)
    fill(known, this.#floats)
    if (added.length === 0) return
    const message = `${added.join(', ')} ${added.length === 1 ? 'is' : 'are'} not there; the defaults of ${name} were taken`
    this.#context.report.report(codes.defaults, { offset: 0, path: 'class', message })
  }

  #model(): Model {
    const metadata = new Map<string, MetaValue>()
    for (const [key, value] of this.#uints) metadata.set(key, { type: 'u32', value })
    for (const [key, value] of this.#floats) {
      const bits = this.#nanBits.get(key)
      if (!metadata.has(key)) metadata.set(key, { type: 'f32', value, ...(bits !== undefined && { bits }) })
    }
    const part = optimizerPart({
      uints: this.#uints,
      floats: this.#floats,
      ...(this.#nanBits.size > 0 && { nanBits: this.#nanBits }),
      ...(this.#rawKeys.size > 0 && { rawKeys: this.#rawKeys }),
    })
    return { format: settingsId, metadata, tensors: [], parts: [part], files: [this.#source] }
  }

  #record(path: string, index: number, value?: string | number): void {
    const { extents } = this.#context
    if (!extents) return
    const end = this.#scanner.offsetAt(index)
    const [offset, length] = [this.#reached, end - this.#reached]
    extents.add({ file: this.#source.name, offset, length, path, kind: 'field', value })
    this.#reached = end
  }

  #fail(code: Code, path: string, message: string, index = this.#scanner.index): never {
    return this.#context.report.fail(code, { offset: this.#scanner.offsetAt(index), path, message })
  }
}

const isMember = (name: string): name is MemberName => (memberNames as readonly string[]).includes(name)

const floatScratch = new Float32Array(1)
const bitScratch = new Uint32Array(floatScratch.buffer)
