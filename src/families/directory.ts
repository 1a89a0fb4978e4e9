// The files of a model directory: companions that are parts of the model, and others that lie beside them, such as README.md.
import { decodeUtf8 } from '../bytes/index.js'
import { findFile } from '../content/companions.js'
import { failWith, TareError } from '../errors/index.js'
import { type Model, type Payload, rangePayload, readPayload } from '../model/index.js'
import { familyCodes } from './codes.js'
import { isObject } from './facts.js'
import type { Config } from './family.js'

/** Larger files are not what their names say. The tokenizers of today take up to 35 MB. */
const maxBytes = 1 << 29

export class ModelDirectory {
  readonly model: Model
  readonly #signal: AbortSignal | undefined

  constructor(model: Model, signal?: AbortSignal) {
    this.model = model
    this.#signal = signal
  }

  /** What the directory is called. */
  get name(): string {
    return this.model.files[0]?.folder?.name ?? ''
  }

  /** How a file of it is called in messages. */
  pathOf(name: string): string {
    const main = this.model.files[0]?.name ?? ''
    return `${main.slice(0, main.lastIndexOf('/') + 1)}${name}`
  }

  /** The content of a file, which may be in a folder below; undefined if there is none. */
  async bytes(path: string): Promise<Uint8Array | undefined> {
    const payload = await this.#find(path)
    if (!payload) return undefined
    if (payload.byteLength > maxBytes) this.fail(path, `${payload.byteLength} bytes are more than such a file has`)
    return readPayload(payload, this.#signal)
  }

  async text(path: string): Promise<string | undefined> {
    const bytes = await this.bytes(path)
    if (!bytes) return undefined
    return decodeUtf8(bytes) ?? this.fail(path, 'it is not UTF-8')
  }

  /** The JSON object in a file. */
  async json(path: string): Promise<Config | undefined> {
    const value = await this.value(path)
    return value === undefined || isObject(value) ? value : this.fail(path, 'a JSON object was expected')
  }

  /** The JSON in a file. */
  async value(path: string): Promise<unknown> {
    const text = await this.text(path)
    if (text === undefined) return undefined
    try {
      return JSON.parse(text)
    } catch (error) {
      return parseWithWords(text) ?? this.fail(path, `it is not JSON: ${(error as Error).message}`)
    }
  }

  /** The files in a folder below, by path; not those in folders of it. */
  filesIn(folder: string): readonly string[] {
    const below = this.model.files[0]?.folder?.below ?? []
    const start = `${folder}/`
    return below.filter((path) => path.startsWith(start) && !path.includes('/', start.length)).sort()
  }

  async has(path: string): Promise<boolean> {
    return (await this.#find(path)) !== undefined
  }

  fail(path: string, message: string): never {
    return failWith(familyCodes.config, { file: this.pathOf(path), path, message })
  }

  async #find(path: string): Promise<Payload | undefined> {
    const part = findFile(this.model.parts, path)
    if (part?.data) return part.data
    const [main] = this.model.files
    if (!main?.folder?.isWhole) return undefined
    const isBelow = path.includes('/')
    if (!isBelow && !main.folder.files.includes(path)) return undefined
    try {
      const source = await (isBelow ? main.below?.(path) : main.sibling?.(path))
      return source && rangePayload(source, 0, source.size)
    } catch (error) {
      if (isBelow && error instanceof TareError) return undefined
      throw error
    }
  }
}

/** Python writes numbers that JSON does not have. Undefined where that is not what is wrong. */
function parseWithWords(text: string): unknown {
  const words: Readonly<Record<string, number>> = { NaN: Number.NaN, Infinity: Infinity, '-Infinity': -Infinity }
  // No text of the file has the mark.
  let mark = '#'
  while (text.includes(mark)) mark += '#'
  const json = text.replace(/"(?:[^"\\]|\\.)*"|-?\bInfinity\b|\bNaN\b/g, (part) =>
    part.startsWith('"') ? part : JSON.stringify(mark + part),
  )
  if (json === text) return undefined
  try {
    return JSON.parse(json, (_, value) =>
      typeof value === 'string' && value.startsWith(mark) ? words[value.slice(mark.length)] : value,
    )
  } catch {
    return undefined
  }
}
