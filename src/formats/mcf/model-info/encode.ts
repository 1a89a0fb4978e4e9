// Writing ModelInfo, byte for byte as the reference does: fixed fields, then blobs in the order name, base model, and each key with its
// value, keys ascending by their bytes, then the table.
import { alignUp, compareUtf8, encodeUtf8 } from '../../../bytes/index.js'
import { failWith, writeCodes } from '../../../errors/index.js'
import type { MetaValue } from '../../../model/index.js'
import { kvEntry, modelInfoHeader } from '../structs.js'
import { kvTypes, type ModelInfo } from './model-info.js'

/** `flags`: those of a section that is written again; nobody gave them a meaning. */
export function encodeModelInfo(info: ModelInfo, extras: ReadonlyMap<string, MetaValue>, flags = 0): Uint8Array {
  const chunks: { readonly offset: number; readonly bytes: Uint8Array }[] = []
  let end = modelInfoHeader.size
  const put = (bytes: Uint8Array): number => {
    const offset = end
    chunks.push({ offset, bytes })
    end = alignUp(end + bytes.byteLength, 8)
    return offset
  }
  const putBlob = (bytes: Uint8Array): number => (bytes.byteLength === 0 ? 0 : put(withLength(bytes)))
  const { modelName, baseModel, ...fields } = info
  requireFinite('rope_freq_base', info.ropeFreqBase)
  requireFinite('rope_scale', info.ropeScale)
  const modelNameOff = putBlob(encodeUtf8(modelName))
  const baseModelOff = putBlob(encodeUtf8(baseModel))
  const entries = [...extras]
    .toSorted(([a], [b]) => compareUtf8(a, b))
    .map(([key, value]) => {
      const keyOff = putBlob(encodeUtf8(key))
      return { keyOff, ...putValue(key, value, put, putBlob) }
    })
  const kvOff = end
  const bytes = new Uint8Array(end + entries.length * kvEntry.size)
  const view = new DataView(bytes.buffer)
  for (const chunk of chunks) bytes.set(chunk.bytes, chunk.offset)
  modelInfoHeader.writeInto(view, 0, {
    ...{ version: 1, flags, reserved: 0, reserved2: 0 },
    ...fields,
    ...{ modelNameOff: BigInt(modelNameOff), baseModelOff: BigInt(baseModelOff) },
    ...{ kvCount: entries.length, kvOff: BigInt(kvOff) },
  })
  for (const [i, { keyOff, type, valueOff }] of entries.entries()) {
    const entry = { keyOff: BigInt(keyOff), type, reserved: 0, valueOff: BigInt(valueOff) }
    kvEntry.writeInto(view, kvOff + i * kvEntry.size, entry)
  }
  return bytes
}

function putValue(
  key: string,
  value: MetaValue,
  put: (bytes: Uint8Array) => number,
  putBlob: (bytes: Uint8Array) => number,
): { type: number; valueOff: number } {
  if (value.type === 'str') return { type: kvTypes.str, valueOff: putBlob(value.bytes ?? encodeUtf8(value.value)) }
  const bytes = new Uint8Array(4)
  const view = new DataView(bytes.buffer)
  if (value.type === 'u32') view.setUint32(0, Number(value.value), true)
  else if (value.type === 'f32') {
    requireFinite(key, value.value)
    view.setFloat32(0, value.value, true)
  } else
    failWith(writeCodes['name-unsupported'], {
      file: '',
      path: key,
      message: `MCF has no values of type ${value.type}`,
    })
  return { type: value.type === 'u32' ? kvTypes.u32 : kvTypes.f32, valueOff: put(bytes) }
}

function requireFinite(path: string, value: number): void {
  if (!Number.isFinite(value))
    failWith(writeCodes['value-range'], { file: '', path, message: `${value} has no place in ModelInfo` })
}

function withLength(bytes: Uint8Array): Uint8Array {
  const blob = new Uint8Array(4 + bytes.byteLength)
  new DataView(blob.buffer).setUint32(0, bytes.byteLength, true)
  blob.set(bytes, 4)
  return blob
}
