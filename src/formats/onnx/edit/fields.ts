// Edits of metadata: fields of the model and of its graph, versions of operator sets, and properties, which can have any key.
import { encodeUtf8, joinBytes } from '../../../bytes/index.js'
import { failWith } from '../../../errors/index.js'
import type { Metadata, MetaValue } from '../../../model/index.js'
import { protoBytes, protoInt, protoMessage, protoText, type Rope } from '../../../wire/protobuf/write.js'
import { ownCodes as codes } from '../codes.js'
import { type Field, graphFields, mainDomain, modelFields, opsetPrefix } from '../words.js'

const opsetField = 8
const propertyField = 14

/** The entries that change; all others stay as they are. */
export class FieldEdits {
  readonly #changes = new Map<string, MetaValue | undefined>()
  readonly #added: string[] = []
  readonly #file: string

  constructor(before: Metadata, after: Metadata, file: string) {
    this.#file = file
    for (const [key, value] of before) {
      const now = after.get(key)
      if (now === value) continue
      const field = modelFields.get(key) ?? graphFields.get(key)
      if (!now && (field?.isRequired || key.startsWith(opsetPrefix)))
        failWith(codes['field-required'], { file, path: key, message: 'a model needs it' })
      this.#changes.set(key, now)
    }
    for (const [key, value] of after) {
      if (before.has(key)) continue
      this.#changes.set(key, value)
      this.#added.push(key)
    }
  }

  /** The bytes that take the place of a field of the model or its graph; undefined when it stays. */
  field(message: 'graph' | 'model', number: number): Uint8Array | undefined {
    const fields = message === 'graph' ? graphFields : modelFields
    const [key] = [...fields].find(([, field]) => field.number === number) ?? []
    return key === undefined ? undefined : this.entry(key)
  }

  opset(domain: string): Uint8Array | undefined {
    return this.entry(opsetPrefix + (domain === '' ? mainDomain : domain))
  }

  entry(key: string): Uint8Array | undefined {
    return this.#changes.has(key) ? this.#bytesOf(key) : undefined
  }

  /** What is new, for the end of the graph and of the model. */
  addedTo(message: 'graph' | 'model'): Uint8Array {
    const keys = this.#added.filter((key) => graphFields.has(key) === (message === 'graph'))
    return joinBytes(keys.map((key) => this.#bytesOf(key)))
  }

  /** An entry as the field that holds it; no bytes for one that is removed. */
  #bytesOf(key: string): Uint8Array {
    const value = this.#changes.get(key)
    if (!value) return new Uint8Array()
    const field = modelFields.get(key) ?? graphFields.get(key)
    return joinBytes(this.#encode(key, field, value).pieces)
  }

  #encode(key: string, field: Field | undefined, value: MetaValue): Rope {
    if (field) {
      if (field.isInteger) return protoInt(field.number, this.#integer(key, value))
      return protoBytes<never>(field.number, this.#text(key, value))
    }
    if (!key.startsWith(opsetPrefix))
      return protoMessage(propertyField, [protoText(1, key), protoBytes<never>(2, this.#text(key, value))])
    const domain = key.slice(opsetPrefix.length)
    return protoMessage(opsetField, [
      protoText(1, domain === mainDomain ? '' : domain),
      protoInt(2, this.#integer(key, value)),
    ])
  }

  /** As it was where it is not UTF-8. */
  #text(key: string, value: MetaValue): Uint8Array {
    if (value.type === 'str') return value.bytes ?? encodeUtf8(value.value)
    return failWith(codes['field-value'], { file: this.#file, path: key, message: 'this entry is a text' })
  }

  #integer(key: string, value: MetaValue): bigint {
    const given = 'value' in value && typeof value.value !== 'object' ? String(value.value) : ''
    if (/^-?[0-9]{1,18}$/.test(given)) return BigInt(given)
    return failWith(codes['field-value'], { file: this.#file, path: key, message: 'this entry is a whole number' })
  }
}
