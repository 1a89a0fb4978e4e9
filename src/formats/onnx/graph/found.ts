// What the walk over the graphs finds: tensors under their names, and everything else that a model has.

import type { JsonValue, Part, Payload, Tensor } from '../../../model/index.js'
import { sharedShape } from '../../../model/model.js'
import { after } from '../../../wire/protobuf/protobuf.js'
import { ownCodes as codes } from '../codes.js'
import type { OnnxReader, Text } from '../reader.js'
import type { ExternalData } from '../tensors/external.js'
import {
  isElsewhere,
  type Judged,
  type JudgedElsewhere,
  type JudgedStrings,
  judgeTensor,
  recordValues,
} from '../tensors/judge-tensor.js'
import type { TensorDraft } from '../tensors/tensor-draft.js'
import type { TypedValues } from '../tensors/typed-values.js'
import { graphKind } from '../words.js'
import { distinctNames, MetNames, type Scope, type TensorPlace } from './names.js'

/** Where the values of a sparse tensor belong. */
export interface Positions {
  readonly payload: Payload
  /** Of the whole tensor. */
  readonly shape: readonly number[]
  /** Counted over the flattened tensor, or one coordinate per dimension. */
  readonly isFlat: boolean
  readonly offset: number
  readonly path: string
}

const repetitions = {
  'same-graph': { code: 'duplicate-name', where: 'the same graph' },
  constants: { code: 'duplicate-constant', where: 'the same graph; the last one counts' },
  'other-graph': { code: 'name-reused', where: 'another graph' },
} as const

/** Names of operators, inputs and outputs that are kept for showing. */
const maxShown = 1000

export class Found {
  readonly tensors: Tensor[] = []
  /** For each tensor, where its name stands. */
  readonly places: TensorPlace[] = []
  readonly parts: Part[] = []
  /** Lists of varints: how many values they have, and which, only reading can show. */
  readonly unread: TypedValues[] = []
  /** Positions of sparse tensors, which only reading can check. */
  readonly positions: Positions[] = []
  readonly inputs: string[] = []
  readonly outputs: string[] = []
  readonly #operators = new Map<string, number>()
  readonly #reader: OnnxReader
  readonly #external: ExternalData
  readonly #names = new MetNames()
  #hasRepeatedNames = false
  #nodes = 0

  constructor(reader: OnnxReader, external: ExternalData) {
    this.#reader = reader
    this.#external = external
  }

  countNode(operator: string): void {
    this.#nodes++
    const count = this.#operators.get(operator)
    if (count !== undefined || this.#operators.size < maxShown) this.#operators.set(operator, (count ?? 0) + 1)
  }

  addPort(list: string[], name: string): void {
    if (list.length < maxShown) list.push(name)
  }

  /** Checks a tensor; this is all for one that is not listed. */
  async check(draft: TensorDraft, isListed = false): Promise<Judged | JudgedStrings | undefined> {
    const verdict = judgeTensor(draft, this.#reader)
    return this.#keep(draft, isListed, isElsewhere(verdict) ? await this.#bring(draft, verdict) : verdict)
  }

  async #bring(draft: TensorDraft, { type, shape, byteLength }: JudgedElsewhere): Promise<Judged | undefined> {
    const data = await this.#external.payload(draft, byteLength)
    return data && { type, shape, data }
  }

  #keep<J extends Judged | JudgedStrings | undefined>(draft: TensorDraft, isListed: boolean, judged: J): J {
    // The data of tensors that are not listed are fields like others in the byte map.
    recordValues(draft, isListed ? judged?.type : undefined, this.#reader)
    if (judged?.type && judged.unread) this.unread.push(judged.unread)
    return judged
  }

  /** A tensor with a name: an initializer, or the constant of a node. */
  add(draft: TensorDraft, name: Text, scope: Scope, isConstant: boolean): void | Promise<void> {
    draft.name = name
    const verdict = judgeTensor(draft, this.#reader)
    return after(isElsewhere(verdict) ? this.#bring(draft, verdict) : verdict, (found) =>
      this.#addJudged(draft, name, scope, isConstant, found),
    )
  }

  #addJudged(
    draft: TensorDraft,
    name: Text,
    scope: Scope,
    isConstant: boolean,
    found: Judged | JudgedStrings | undefined,
  ): void {
    const judged = this.#keep(draft, scope.isListed, found)
    if (!scope.isListed) return
    this.#checkName(name.value, draft, scope, isConstant)
    if (!judged) {
      const reason = 'its data are not there, or do not go with its type and shape'
      this.#reader.context.onLost?.({ subject: 'tensor', name: name.value, reason })
      return
    }
    if (!judged.type) {
      this.#addStrings(draft, name, judged)
      return
    }
    this.places.push({ scope, name, start: draft.pieces.length === 1 ? draft.pieces[0]!.start : undefined })
    this.tensors.push(tensorOf(name, judged, isConstant, scope.path, this.tensors.at(-1)))
  }

  #addStrings({ path, pieces }: TensorDraft, { value: name }: Text, { shape }: JudgedStrings): void {
    const message = `${JSON.stringify(name)} holds texts and is not a tensor of numbers`
    this.#report('strings', pieces[0]?.start ?? 0, path, message)
    this.parts.push({ kind: 'onnx.strings', sharing: 'private', name, value: { shape } })
  }

  addSparse(name: string, value: JsonValue, offset: number, path: string): void {
    this.#report('sparse', offset, path, `${JSON.stringify(name)} is stored as values and positions`)
    this.parts.push({ kind: 'onnx.sparse', sharing: 'private', name, value })
  }

  /** A summary of the graph, which no other format has a place for. */
  graphPart(): Part | undefined {
    const isEmpty = this.#nodes === 0 && this.inputs.length === 0 && this.outputs.length === 0
    if (isEmpty && this.parts.length === 0) return undefined
    const operators = Object.create(null) as Record<string, JsonValue>
    for (const [name, count] of this.#operators) operators[name] = count
    const value = { nodes: this.#nodes, operators, inputs: this.inputs, outputs: this.outputs }
    return { kind: graphKind, sharing: 'private', value }
  }

  /** In the file names may repeat; here every tensor gets its own. */
  makeNamesDistinct(): void {
    if (!this.#hasRepeatedNames) return
    for (const [i, name] of distinctNames(this.places)) {
      const { rawName: _rawName, ...rest } = this.tensors[i]!
      this.tensors[i] = { ...rest, name }
    }
  }

  #checkName(name: string, { path, pieces }: TensorDraft, scope: Scope, isConstant: boolean): void {
    const offset = pieces[0]?.start ?? 0
    if (name === '') this.#report('name-empty', offset, `${path}.name`, 'the tensor has no name')
    const repetition = this.#names.meet(name, scope, isConstant)
    if (!repetition) return
    this.#hasRepeatedNames = true
    const { code, where } = repetitions[repetition]
    this.#report(code, offset, `${path}.name`, `${JSON.stringify(name)} was there before in ${where}`)
  }

  #report(code: keyof typeof codes, offset: number, path: string, message: string): void {
    this.#reader.context.report.report(codes[code], { offset, path, message })
  }
}

function tensorOf(
  name: Text,
  { type, shape: own, data }: Judged,
  isConstant: boolean,
  graph: string | undefined,
  before: Tensor | undefined,
): Tensor {
  const shape = sharedShape(own, before)
  const plain: Tensor = { name: name.value, dtype: type.dtype, shape, order: 'row', role: 'weight', data }
  if (!name.bytes && !isConstant && graph === undefined) return plain
  const extra = { ...(isConstant && { constant: true }), ...(graph !== undefined && { graph }) }
  return {
    ...plain,
    ...(name.bytes && { rawName: [name.bytes] }),
    ...(Object.keys(extra).length > 0 && { extra }),
  }
}
