// Small ONNX files for tests, field by field.
import type { Finding, VerifyResult } from '../../../src/kit.js'
import { MemorySource, type Model, openModel, verifySource } from '../../../src/kit.js'
import {
  joinRopes,
  protoBytes,
  protoInt,
  protoMessage,
  protoPacked,
  protoText,
  type Rope,
} from '../../../src/wire/protobuf/write.js'
import { floats } from '../../support/numbers.js'

export { floats, protoBytes, protoInt, protoMessage, protoPacked, protoText, type Rope }

export function bytesOf(fields: readonly Rope[]): Uint8Array {
  const { byteLength, pieces } = joinRopes(fields)
  const bytes = new Uint8Array(byteLength)
  let at = 0
  for (const piece of pieces) {
    bytes.set(piece, at)
    at += piece.byteLength
  }
  return bytes
}

/** Bytes that no writer would make, in the place of a field. */
export const rawBytes = (...bytes: number[]): Rope => ({
  byteLength: bytes.length,
  pieces: [Uint8Array.from(bytes)],
})

export const dims = (...sizes: (number | bigint)[]): Rope[] => sizes.map((size) => protoInt(1, size))
export const dataType = (type: number): Rope => protoInt(2, type)
export const tensorName = (name: string): Rope => protoText(8, name)
export const rawData = (bytes: Uint8Array): Rope => protoBytes<never>(9, bytes)
export const external = (entries: Readonly<Record<string, string>>): Rope[] => [
  ...Object.entries(entries).map(([key, value]) => protoMessage(13, [protoText(1, key), protoText(2, value)])),
  protoInt(14, 1),
]

/** The fields of a tensor of f32 [2]. */
export const pair = (name: string): Rope[] => [...dims(2), dataType(1), tensorName(name), rawData(floats(1, 2))]

export const initializer = (...fields: readonly Rope[]): Rope => protoMessage(5, fields)
export const attribute = (name: string, ...fields: readonly Rope[]): Rope =>
  protoMessage(5, [protoText(1, name), ...fields])
export const node = (operator: string, output: string, ...attributes: readonly Rope[]): Rope =>
  protoMessage(1, [protoText(2, output), protoText(4, operator), ...attributes])

export const graphOf = (...fields: readonly Rope[]): Rope => protoMessage(7, fields)
export const version = protoInt(1, 8)
export const opset = protoMessage(8, [protoText(1, ''), protoInt(2, 17)])

/** A model whose graph has these fields. */
export const modelOf = (...graph: readonly Rope[]): Uint8Array => bytesOf([version, graphOf(...graph), opset])

export const sourceOf = (bytes: Uint8Array, siblings: Readonly<Record<string, Uint8Array>> = {}): MemorySource =>
  new MemorySource(bytes, 'model.onnx', new Map(Object.entries(siblings)))

export const open = (bytes: Uint8Array, siblings?: Readonly<Record<string, Uint8Array>>): Promise<Model> =>
  openModel(sourceOf(bytes, siblings))

export const verify = (bytes: Uint8Array, siblings?: Readonly<Record<string, Uint8Array>>): Promise<VerifyResult> =>
  verifySource(sourceOf(bytes, siblings), { from: 'onnx' })

/** What verifying says beyond the remark that every file gets. */
export async function findings(
  bytes: Uint8Array,
  siblings?: Readonly<Record<string, Uint8Array>>,
): Promise<readonly Finding[]> {
  return (await verify(bytes, siblings)).findings.filter(({ code }) => code !== 'verify/no-checksums')
}

export async function codesOf(
  bytes: Uint8Array,
  siblings?: Readonly<Record<string, Uint8Array>>,
): Promise<readonly string[]> {
  return (await findings(bytes, siblings)).map(({ code }) => code)
}
