// The ONNX messages that the encoder needs. Numbers are field numbers of onnx.proto.
import type { Payload } from '../model/index.js'
import {
  joinRopes,
  protoBytes,
  protoFloat,
  protoInt,
  protoMessage,
  protoPacked,
  protoText,
  type Rope,
} from '../wire/protobuf/write.js'

type Field = Rope<Payload>

const elementType = { f32: 1, i64: 7 } as const
export type OnnxType = keyof typeof elementType

/** An integer, a float, a text or a list of integers. ONNX distinguishes floats from integers, so an integral float must be marked. */
export type Attribute = number | string | readonly number[] | { readonly float: number }

export interface OnnxNode {
  readonly op: string
  readonly name: string
  readonly inputs: readonly string[]
  readonly outputs: readonly string[]
  readonly attributes?: Readonly<Record<string, Attribute>>
}

/** A constant of the graph. */
export interface OnnxConstant {
  readonly name: string
  readonly type: OnnxType
  readonly shape: readonly number[]
  readonly data: Payload
}

/** An input or output. A named dimension can have any size. */
export interface OnnxValue {
  readonly name: string
  readonly type: OnnxType
  readonly shape: readonly (string | number)[]
}

export interface OnnxGraph {
  readonly name: string
  readonly nodes: readonly OnnxNode[]
  readonly constants: readonly OnnxConstant[]
  readonly inputs: readonly OnnxValue[]
  readonly outputs: readonly OnnxValue[]
}

export interface OnnxModel {
  readonly graph: OnnxGraph
  readonly opset: number
  readonly metadata: ReadonlyMap<string, string>
}

const irVersion = 9

/** What a constant says about its data: the data themselves, or where else they are. */
export type DataFields = (name: string, data: Payload) => Rope<Payload>

const inline: DataFields = (_name, data) => protoBytes<Payload>(9, data)

/** The file, with payloads in place of the bytes of constants. */
export function onnxFile({ graph, opset, metadata }: OnnxModel, dataFields: DataFields = inline): Rope<Payload> {
  return joinRopes<Payload>([
    protoInt(1, irVersion),
    protoText(2, 'tare'),
    protoMessage(7, graphFields(graph, dataFields)),
    protoMessage(8, [protoText(1, ''), protoInt(2, opset)]),
    ...[...metadata].map(([key, value]) => protoMessage(14, [protoText(1, key), protoText(2, value)])),
  ])
}

function graphFields({ name, nodes, constants, inputs, outputs }: OnnxGraph, dataFields: DataFields): Field[] {
  return [
    ...nodes.map((node) => protoMessage(1, nodeFields(node))),
    protoText(2, name),
    ...constants.map((constant) => protoMessage<Payload>(5, constantFields(constant, dataFields))),
    ...inputs.map((value) => protoMessage(11, valueFields(value))),
    ...outputs.map((value) => protoMessage(12, valueFields(value))),
  ]
}

function nodeFields({ op, name, inputs, outputs, attributes = {} }: OnnxNode): Rope[] {
  return [
    ...inputs.map((each) => protoText(1, each)),
    ...outputs.map((each) => protoText(2, each)),
    protoText(3, name),
    protoText(4, op),
    ...Object.entries(attributes).map(([key, value]) =>
      protoMessage(5, [protoText(1, key), ...attributeFields(value)]),
    ),
  ]
}

function attributeFields(value: Attribute): Rope[] {
  if (typeof value === 'number') return [protoInt(3, value), protoInt(20, 2)]
  if (typeof value === 'string') return [protoText(4, value), protoInt(20, 3)]
  if ('float' in value) return [protoFloat(2, value.float), protoInt(20, 1)]
  return [...value.map((each) => protoInt(8, each)), protoInt(20, 7)]
}

function constantFields({ name, type, shape, data }: OnnxConstant, dataFields: DataFields): Field[] {
  const dims = shape.length > 0 ? [protoPacked(1, shape)] : []
  return [...dims, protoInt(2, elementType[type]), protoText(8, name), dataFields(name, data)]
}

function valueFields({ name, type, shape }: OnnxValue): Rope[] {
  const dims = shape.map((size) => protoMessage(1, [typeof size === 'number' ? protoInt(1, size) : protoText(2, size)]))
  const tensor = protoMessage(1, [protoInt(1, elementType[type]), protoMessage(2, dims)])
  return [protoText(1, name), protoMessage(2, [tensor])]
}
