// Renames tensors wherever their names stand: at the tensor, or at the output of the node that makes it; at the inputs of nodes, also in graphs
// inside nodes; at inputs and outputs of the graph, in descriptions of values, in annotations, and in bindings of training steps. A graph inside
// a node sees the names of the graphs around it, except those that it defines itself.
import { decodeUtf8, encodeUtf8, joinBytes, toHex } from '../../../bytes/index.js'
import { failWith } from '../../../errors/index.js'
import type { MessageSpec, ProtobufReader } from '../../../wire/protobuf/protobuf.js'
import { protoBytes } from '../../../wire/protobuf/write.js'
import { ownCodes as codes } from '../codes.js'
import {
  annotationMessage,
  attributeMessage,
  entryMessage,
  graphMessage,
  nodeMessage,
  sparseMessage,
  tensorMessage,
  trainingMessage,
  valueInfoMessage,
} from '../messages.js'
import { mainGraph } from '../read.js'
import type { Text } from '../reader.js'
import { type FieldPlace, placeOf, type Splices } from './splices.js'

/** New names by old ones, as `nameKey` gives them. */
export type Names = ReadonlyMap<string, string>
/** The same for each graph, by its path. */
export type NamesByGraph = ReadonlyMap<string, Names>

/** What tells names apart: their text, or their bytes where they are not UTF-8, after a character that no text has. */
export const nameKey = ({ value, bytes }: Text): string => (bytes ? keyOf(bytes) : value)
const keyOf = (bytes: Uint8Array): string => decodeUtf8(bytes) ?? `\ud800${toHex(bytes)}`

const none: Names = new Map()

/** Numbers of what a graph or a node has, for the paths; protobuf merges two pieces of a message, so numbers go on in the second one. */
type Counters = Map<string, number>

type Visit = (field: FieldPlace) => Promise<void> | undefined

export class Renamer {
  readonly #reader: ProtobufReader
  readonly #splices: Splices
  readonly #byGraph: NamesByGraph
  readonly #counters: Counters = new Map()
  /** By new name, what has it afterwards. */
  readonly #owners = new Map<string, Set<string>>()

  constructor(reader: ProtobufReader, splices: Splices, byGraph: NamesByGraph) {
    this.#reader = reader
    this.#splices = splices
    this.#byGraph = byGraph
    for (const names of byGraph.values()) for (const name of names.values()) this.#owners.set(name, new Set())
  }

  /** Renames in a graph and in the graphs of its nodes. `around` are the new names that it sees of the graphs around it. */
  async #graph(place: FieldPlace, path: string, around: Names): Promise<void> {
    await this.#splices.inside(place, () => this.inGraph(place, path, around))
  }

  /** The same where the caller is inside the graph already. */
  async inGraph(place: FieldPlace, path: string, around: Names = none): Promise<void> {
    const own = this.#byGraph.get(path) ?? none
    const defined = await this.#namesDefinedIn(place)
    for (const name of defined) this.#owners.get(own.get(name) ?? name)?.add(`${path} ${name}`)
    const names: Names = new Map([...[...around].filter(([name]) => !defined.has(name)), ...own])
    await this.#walkIn(place, graphMessage, (field) => {
      switch (field.field) {
        case 1:
          return this.#node(field, this.#next(`${path}.node`), names)
        case 5:
          return this.#walk(field, tensorMessage, (inner) => this.#rename(inner, 8, names))
        case 11:
        case 12:
        case 13:
          return this.#walk(field, valueInfoMessage, (inner) => this.#rename(inner, 1, names))
        case 14:
          return this.#annotation(field, names)
        case 15:
          return this.#sparse(field, names)
        default:
          return undefined
      }
    })
  }

  /** A training step sees the names of the main graph. */
  async training(place: FieldPlace, path: string): Promise<void> {
    const names = this.#byGraph.get(mainGraph) ?? none
    await this.#walk(place, trainingMessage, (field) => {
      if (field.field <= 2) return this.#graph(field, `${path}.${trainingMessage.get(field.field)!.name}`, names)
      return this.#walk(field, entryMessage, (inner) => this.#rename(inner, 1, names))
    })
  }

  /** Throws when a new name is that of something else. */
  checkNames(file: string): void {
    for (const [name, owners] of this.#owners) {
      if (owners.size < 2) continue
      const message = `something else of the graph is called ${JSON.stringify(name)}`
      failWith(codes['name-taken'], { file, path: name, message })
    }
  }

  /** The names that a graph defines: its inputs, its initializers, and the outputs of its nodes. */
  async #namesDefinedIn(graph: FieldPlace): Promise<Set<string>> {
    const names = new Set<string>()
    const collect = (place: FieldPlace, spec: MessageSpec, wanted: number): Promise<void> =>
      this.#walkIn(place, spec, ({ field }) => {
        const taken = field === wanted && this.#reader.withPayload((bytes) => void names.add(keyOf(bytes)))
        return taken === false ? undefined : taken.then(() => undefined)
      })
    await this.#walkIn(graph, graphMessage, (field) => {
      if (field.field === 1) return collect(field, nodeMessage, 2)
      if (field.field === 5) return collect(field, tensorMessage, 8)
      if (field.field === 11) return collect(field, valueInfoMessage, 1)
      if (field.field !== 15) return undefined
      return this.#walkIn(field, sparseMessage, (inner) =>
        inner.field === 1 ? collect(inner, tensorMessage, 8) : undefined,
      )
    })
    return names
  }

  async #node(place: FieldPlace, path: string, names: Names): Promise<void> {
    await this.#walk(place, nodeMessage, (field) => {
      if (field.field <= 2) return this.#rename(field, field.field, names)
      return field.field === 5 ? this.#attribute(field, this.#next(`${path}.attribute`), names) : undefined
    })
  }

  async #attribute(place: FieldPlace, path: string, names: Names): Promise<void> {
    await this.#walk(place, attributeMessage, (field) => {
      if (field.field === 6) return this.#graph(field, `${path}.g`, names)
      return field.field === 11 ? this.#graph(field, this.#next(`${path}.graphs`), names) : undefined
    })
  }

  /** The name of a tensor, and pairs of a role and the name of another one. */
  async #annotation(place: FieldPlace, names: Names): Promise<void> {
    await this.#walk(place, annotationMessage, (field) => {
      if (field.field === 1) return this.#rename(field, 1, names)
      return this.#walk(field, entryMessage, (inner) => this.#rename(inner, 2, names))
    })
  }

  async #sparse(place: FieldPlace, names: Names): Promise<void> {
    await this.#walk(place, sparseMessage, (field) =>
      field.field === 1 ? this.#walk(field, tensorMessage, (inner) => this.#rename(inner, 8, names)) : undefined,
    )
  }

  /** Walks a message that something may be replaced in. */
  async #walk(place: FieldPlace, spec: MessageSpec, visit: Visit): Promise<void> {
    await this.#splices.inside(place, () => this.#walkIn(place, spec, visit))
  }

  async #walkIn(place: FieldPlace, spec: MessageSpec, visit: Visit): Promise<void> {
    const reader = this.#reader
    await reader.walk(place, '', spec, () => {
      const work = visit(placeOf(reader))
      return work ? work.then(() => true) : true
    })
  }

  /** The visited field, if it is the one that holds a name. An empty one stands for nothing. */
  #rename(field: FieldPlace, wanted: number, names: Names): Promise<void> | undefined {
    if (field.field !== wanted || field.end === field.start) return undefined
    const renamed = this.#reader.withPayload((bytes) => {
      const name = names.get(keyOf(bytes))
      if (name === undefined) return
      const { pieces } = protoBytes<never>(field.field, encodeUtf8(name))
      this.#splices.replaceField(field, joinBytes(pieces))
    })
    return renamed === false ? undefined : renamed.then(() => undefined)
  }

  #next(path: string): string {
    const number = this.#counters.get(path) ?? 0
    this.#counters.set(path, number + 1)
    return `${path}[${number}]`
  }
}
