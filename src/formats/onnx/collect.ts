// What the walk over the graphs finds: tensors under their names, and everything else that a model has.
import type { JsonValue, Part, Payload, ReadContext, Tensor } from '../../model/index.js'
import { ownCodes as codes } from './codes.js'
import type { Judged, JudgedStrings, TensorJudge } from './judge-tensor.js'
import type { TensorDraft } from './tensor-draft.js'
import type { Text } from './texts.js'
import type { TypedValues } from './typed-values.js'

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

/** One graph. Names must be unique in it, and should be over all graphs of a model. */
export interface Scope {
  /** Whether its tensors are part of the model; those of local functions and of training are only checked. */
  readonly isListed: boolean
  /** Where the graph is, when it is not the main one. */
  readonly path: string | undefined
}

export const newScope = (isListed: boolean, path?: string): Scope => ({ isListed, path })

/** Texts about the graph that are kept for showing. */
const mostShown = 1000

export class Collector {
  readonly tensors: Tensor[] = []
  readonly parts: Part[] = []
  /** Lists of varints: how many values they have, and which, only reading can show. */
  readonly unread: TypedValues[] = []
  /** Positions of sparse tensors, which only reading can check. */
  readonly positions: Positions[] = []
  readonly inputs: string[] = []
  readonly outputs: string[] = []
  readonly #operators = new Map<string, number>()
  readonly #judge: TensorJudge
  readonly #context: ReadContext
  /** The graph in which a name was first met, and all of them for names that were met again. */
  readonly #names = new Map<string, Scope>()
  readonly #repeated = new Map<string, Set<Scope>>()
  #nodes = 0

  constructor(judge: TensorJudge, context: ReadContext) {
    this.#judge = judge
    this.#context = context
  }

  countNode(operator: string): void {
    this.#nodes++
    const count = this.#operators.get(operator)
    if (count !== undefined || this.#operators.size < mostShown) this.#operators.set(operator, (count ?? 0) + 1)
  }

  addPort(list: string[], name: string): void {
    if (list.length < mostShown) list.push(name)
  }

  /** A tensor that only has to be in order. */
  async inspect(draft: TensorDraft, isListed = false): Promise<Judged | JudgedStrings | undefined> {
    const judged = await this.#judge.judge(draft, isListed)
    if (judged?.type && judged.unread) this.unread.push(judged.unread)
    return judged
  }

  /** A tensor with a name: an initializer, or the constant of a node. */
  async add(draft: TensorDraft, name: Text, scope: Scope, isConstant: boolean): Promise<void> {
    draft.name = name
    const judged = await this.inspect(draft, scope.isListed)
    if (!scope.isListed) return
    this.#checkName(name.value, draft, scope)
    if (!judged) {
      const reason = 'its data are not there, or do not go with its type and shape'
      this.#context.onLost?.({ subject: 'tensor', name: name.value, reason })
      return
    }
    if (!judged.type) {
      this.#addStrings(draft, name, judged)
      return
    }
    const extra: Record<string, JsonValue> = {}
    if (isConstant) extra.constant = true
    if (scope.path !== undefined) extra.graph = scope.path
    this.tensors.push({
      name: name.value,
      ...(name.bytes && { rawName: [name.bytes] }),
      dtype: judged.type.dtype,
      shape: judged.shape,
      order: 'row',
      role: 'weight',
      data: judged.data,
      ...(Object.keys(extra).length > 0 && { extra }),
    })
  }

  #addStrings({ path, pieces }: TensorDraft, { value: name }: Text, { shape }: JudgedStrings): void {
    const message = `${JSON.stringify(name)} holds texts and is no tensor of numbers`
    this.#context.report.report(codes.strings, { offset: pieces[0]?.start ?? 0, path, message })
    this.parts.push({ kind: 'onnx.strings', sharing: 'private', name, value: { shape } })
  }

  addSparse(name: string, value: JsonValue, offset: number, path: string): void {
    const message = `${JSON.stringify(name)} is stored as values and positions`
    this.#context.report.report(codes.sparse, { offset, path, message })
    this.parts.push({ kind: 'onnx.sparse', sharing: 'private', name, value })
  }

  /** What other formats have no place for. */
  graphPart(): Part {
    const operators = Object.create(null) as Record<string, JsonValue>
    for (const [name, count] of this.#operators) operators[name] = count
    const value = { nodes: this.#nodes, operators, inputs: this.inputs, outputs: this.outputs }
    return { kind: 'onnx.graph', sharing: 'private', value }
  }

  #checkName(name: string, { path, pieces }: TensorDraft, scope: Scope): void {
    const complain = (code: keyof typeof codes, message: string): void =>
      this.#context.report.report(codes[code], { offset: pieces[0]?.start ?? 0, path: `${path}.name`, message })
    if (name === '') complain('name-empty', 'the tensor has no name')
    const first = this.#names.get(name)
    if (!first) {
      this.#names.set(name, scope)
      return
    }
    const scopes = this.#repeated.get(name) ?? new Set([first])
    const isSame = scopes.has(scope)
    this.#repeated.set(name, scopes.add(scope))
    const where = isSame ? 'the same' : 'another'
    complain(isSame ? 'duplicate-name' : 'name-reused', `${JSON.stringify(name)} was there before in ${where} graph`)
  }
}
