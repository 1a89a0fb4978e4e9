// Writes the encoder of a model as an ONNX file, for other programs or for the engine here.
import { defaultWindow } from '../bytes/index.js'
import { failWith, TareError } from '../errors/index.js'
import { type FileLayout, type Layout, lazyPayload, type Model, type Payload, type Slot } from '../model/index.js'
import type { Rope } from '../wire/protobuf/write.js'
import { embedCodes } from './codes.js'
import { type Encoder, type EncoderOptions, findEncoder } from './encoder.js'
import { buildGraph, type EmbedProfile, type GraphOptions, graphOpset } from './graph.js'
import { type DataFields, onnxFile } from './onnx-proto.js'

/** Protobuf readers refuse larger messages. */
const maxMessage = 2 ** 31 - 1

export interface OnnxExportOptions extends EncoderOptions {
  /** The file name of the output. */
  readonly name?: string | undefined
  /** Which computation the graph performs. Default: `original`. */
  readonly profile?: EmbedProfile | undefined
  /** Whether the graph scales its vectors to length 1. Default: true. */
  readonly normalize?: boolean | undefined
  /** Properties of the file in addition to those that the export writes. */
  readonly metadata?: ReadonlyMap<string, string> | undefined
  readonly outside?: OutsideData | undefined
}

/** Keeps data in other files: where that is wanted, or where they are too large for one file. */
export interface OutsideData {
  readonly isWanted: boolean
  readonly fields: DataFields
}

/** The file to write. Weights are streamed and never kept in memory. */
export function onnxModelLayout(model: Model, options: OnnxExportOptions = {}): Layout {
  const { profile = 'original', normalize = true, name = 'model.onnx' } = options
  const { metadata, outside } = options
  const file = encoderFile(findEncoder(model, options), { profile, normalize }, metadata, outside)
  return { files: [{ name, slots: slotsOf(file) } satisfies FileLayout] }
}

/** Why a model cannot be exported, or undefined when it can. */
export function onnxExportRefusal(model: Model, options: OnnxExportOptions = {}): string | undefined {
  try {
    onnxModelLayout(model, options)
    return undefined
  } catch (error) {
    if (!(error instanceof TareError)) throw error
    return `${error.finding.path ? `${error.finding.path}: ` : ''}${error.finding.message}`
  }
}

export function encoderFile(
  encoder: Encoder,
  options: GraphOptions,
  properties: ReadonlyMap<string, string> = new Map(),
  outside?: OutsideData,
): Rope<Payload> {
  const { shape, file } = encoder
  const metadata = new Map([
    ...properties,
    ['tare.profile', options.profile],
    ['num_attention_heads', String(shape.heads)],
  ])
  const model = { graph: buildGraph(encoder, options), opset: graphOpset, metadata }
  const rope = onnxFile(model)
  const fits = rope.byteLength <= maxMessage
  if (outside && (outside.isWanted || !fits)) return onnxFile(model, outside.fields)
  if (fits) return rope
  const message = `the encoder takes ${rope.byteLength} bytes as f32, and an ONNX file cannot have more than ${maxMessage}`
  return failWith(embedCodes['too-large'], { file, message })
}

/** The file as a payload, for engines. */
export function ropePayload(rope: Rope<Payload>): Payload {
  return lazyPayload(rope.byteLength, async function* (signal) {
    for (const piece of rope.pieces) {
      if (piece instanceof Uint8Array) yield piece
      else yield* piece.chunks(defaultWindow, signal)
    }
  })
}

function slotsOf(rope: Rope<Payload>): Slot[] {
  return rope.pieces.map((piece, i) =>
    piece instanceof Uint8Array
      ? { kind: 'bytes', path: i === 0 ? 'graph' : `graph[${i}]`, bytes: piece }
      : { kind: 'payload', path: `weights[${i}]`, payload: piece },
  )
}
