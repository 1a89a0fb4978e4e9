// Gives tensors other names and other data. Names are changed wherever their names stand: at the tensor, or at the output of the node that makes it; at the inputs of nodes, also in graphs
// inside nodes; at inputs and outputs of the graph, in descriptions of values, in annotations, and in bindings of training steps. A graph inside
// a node sees the names of the graphs around it, except those that it defines itself.
import { decodeUtf8, encodeUtf8, joinBytes, toHex } from '../../../bytes/index.js'
import { failWith } from '../../../errors/index.js'
import type { Payload } from '../../../model/index.js'
import type { MessageSpec, ProtobufReader } from '../../../wire/protobuf/protobuf.js'
import { protoBytes, type Rope } from '../../../wire/protobuf/write.js'
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
import type { Text } from '../reader.js'
import { mainGraph } from '../words.js'
import { type FieldPlace, placeOf, type Splices } from './splices.js'

/** New names by old ones, as `nameKey` gives them. */
export type Names = ReadonlyMap<string, string>
/** The same for each graph, by its path. */
export type NamesByGraph = ReadonlyMap<string, Names>

/** What tells names apart: their text, or their bytes where they are not UTF-8, after a character that no text has. */
export const nameKey = ({ value, bytes }: Text): string => (bytes ? keyOf(bytes) : value)
const keyOf = (bytes: Uint8Array): string => decodeUtf8(bytes) ?? `\ud800${toHex(bytes)}`

const none: Names = new Map()
const nothing = new Uint8Array()

/** Numbers of what a graph or a node has, for the paths; protobuf merges two pieces of a message, so numbers go on in the second one. */
type Counters = Map<string, number>

/** Other data for a tensor. */
export interface NewData {
  /** The fields that take the place of type and data. */
  readonly fields: Rope<Payload>
  /** Set if its type is another one: what everything that uses the tensor refers to, and the node that makes it of the tensor. */
  readonly cast?: { readonly to: string; readonly node: Uint8Array } | undefined
}

/** By where the message of the tensor begins. */
export type NewDataByPlace = ReadonlyMap<number, NewData>

/** By the name in the file; `isNode` for the constant of a node. */
type Casts = ReadonlyMap<string, NewData & { readonly isNode: boolean }>

/** Fields of a tensor that say what its type is and where its data are. */
const dataFieldNumbers: ReadonlySet<number> = new Set([2, 4, 5, 7, 9, 10, 11, 13, 14])

type Visit = (field: FieldPlace) => Promise<void> | undefined

export class Renamer {
  readonly #reader: ProtobufReader
  readonly #splices: Splices
  readonly #byGraph: NamesByGraph
  readonly #data: NewDataByPlace
  readonly #counters: Counters = new Map()
  /** By new name, what has it afterwards. */
  readonly #owners = new Map<string, Set<string>>()

  constructor(reader: ProtobufReader, splices: Splices, byGraph: NamesByGraph, data: NewDataByPlace = new Map()) {
    this.#reader = reader
    this.#splices = splices
    this.#byGraph = byGraph
    this.#data = data
    for (const names of byGraph.values()) for (const name of names.values()) this.#owners.set(name, new Set())
    for (const { cast } of data.values()) if (cast) this.#owners.set(cast.to, new Set(['cast']))
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
    const casts: Casts = this.#data.size > 0 ? await this.#castsIn(place) : new Map()
    const uses =
      casts.size === 0 ? names : new Map([...names, ...[...casts].map(([name, { cast }]) => [name, cast!.to] as const)])
    for (const { cast, isNode } of casts.values())
      if (!isNode) this.#splices.replace(place.start, place.start, cast!.node)
    await this.#walkIn(place, graphMessage, (field) => {
      switch (field.field) {
        case 1:
          return this.#node(field, this.#next(`${path}.node`), names, uses)
        case 5:
          return this.#tensor(field, names)
        case 11:
          // An initializer that is an input, too, could be replaced by its caller, with another type than it has now.
          return casts.size > 0 ? this.#input(field, names, casts) : this.#valueInfo(field, names)
        case 12:
          return path === mainGraph ? this.#output(field, names, casts) : this.#valueInfo(field, uses)
        case 13:
          return this.#valueInfo(field, uses)
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

  /** `uses` are the names of what it takes, and of what the graphs in it see. */
  async #node(place: FieldPlace, path: string, names: Names, uses: Names): Promise<void> {
    let made: NewData | undefined
    await this.#walk(place, nodeMessage, (field) => {
      if (field.field === 1) return this.#rename(field, 1, uses)
      if (field.field === 2) return this.#rename(field, 2, names)
      if (field.field !== 5) return undefined
      return this.#attribute(field, this.#next(`${path}.attribute`), uses).then((data) => {
        made ??= data
      })
    })
    if (made?.cast) this.#splices.replace(place.end, place.end, made.cast.node)
  }

  /** The new data of its tensor, if it has any. */
  async #attribute(place: FieldPlace, path: string, names: Names): Promise<NewData | undefined> {
    let made: NewData | undefined
    await this.#walk(place, attributeMessage, (field) => {
      if (field.field === 5) {
        made = this.#data.get(field.start)
        return made && this.#tensor(field, none)
      }
      if (field.field === 6) return this.#graph(field, `${path}.g`, names)
      return field.field === 11 ? this.#graph(field, this.#next(`${path}.graphs`), names) : undefined
    })
    return made
  }

  async #tensor(place: FieldPlace, names: Names): Promise<void> {
    const made = this.#data.get(place.start)
    await this.#splices.inside(place, async () => {
      await this.#walkIn(place, tensorMessage, (field) => {
        if (made && dataFieldNumbers.has(field.field)) this.#splices.replaceField(field, nothing)
        return this.#rename(field, 8, names)
      })
      if (made) this.#splices.replace(place.end, place.end, ...made.fields.pieces)
    })
  }

  #valueInfo(place: FieldPlace, names: Names): Promise<void> {
    return this.#walk(place, valueInfoMessage, (inner) => this.#rename(inner, 1, names))
  }

  async #input(place: FieldPlace, names: Names, casts: Casts): Promise<void> {
    const name = await this.#nameIn(place, valueInfoMessage, 1)
    if (casts.has(name)) this.#splices.replaceField(place, nothing)
    else await this.#valueInfo(place, names)
  }

  /** What a graph gives back keeps its name and its type. */
  async #output(place: FieldPlace, names: Names, casts: Casts): Promise<void> {
    const name = casts.size > 0 ? await this.#nameIn(place, valueInfoMessage, 1) : ''
    if (casts.has(name)) {
      const message = 'the graph gives this tensor back, so that its type cannot change; keep it out with --exclude'
      failWith(codes['graph-type'], { file: this.#reader.source.name, path: name, message })
    }
    await this.#valueInfo(place, names)
  }

  /** The tensors of a graph, not of graphs in it, whose type changes; those that a node makes have their name from it. */
  async #castsIn(graph: FieldPlace): Promise<Casts> {
    const casts = new Map<string, NewData & { readonly isNode: boolean }>()
    const add = (name: string, data: NewData | undefined, isNode: boolean): void => {
      if (data?.cast) casts.set(name, { ...data, isNode })
    }
    await this.#walkIn(graph, graphMessage, (field) => {
      if (field.field === 5)
        return this.#nameIn(field, tensorMessage, 8).then((name) => add(name, this.#data.get(field.start), false))
      return field.field === 1 ? this.#constantIn(field).then(([name, data]) => add(name, data, true)) : undefined
    })
    return casts
  }

  async #constantIn(node: FieldPlace): Promise<readonly [string, NewData | undefined]> {
    let data: NewData | undefined
    const output = await this.#nameIn(node, nodeMessage, 2)
    await this.#walkIn(node, nodeMessage, (field) =>
      field.field !== 5
        ? undefined
        : this.#walkIn(field, attributeMessage, (inner) => {
            if (inner.field === 5) data ??= this.#data.get(inner.start)
            return undefined
          }),
    )
    return [output, data]
  }

  /** The text of a field, as names are compared. */
  async #nameIn(place: FieldPlace, spec: MessageSpec, wanted: number): Promise<string> {
    let name = ''
    await this.#walkIn(place, spec, ({ field }) => {
      const taken =
        field === wanted &&
        this.#reader.withPayload((bytes) => {
          name = keyOf(bytes)
        })
      return taken === false ? undefined : taken.then(() => undefined)
    })
    return name
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
