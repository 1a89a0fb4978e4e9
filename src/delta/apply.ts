// Applying a delta: the files of the new model as a layout, of which every byte is either a tensor, restored from the base and the delta, or
// a part of the frame. The container is written as it was, byte for byte, so no format has to know how to write it.

import { fileNameOf, toHex } from '../bytes/index.js'
import { failWith } from '../errors/index.js'
import { requireFormat } from '../formats/index.js'
import {
  defaultLimits,
  type FileLayout,
  type Layout,
  type Model,
  type Payload,
  type Slot,
  slotsMadeBy,
  totalSize,
} from '../model/index.js'
import type { WrittenFile } from '../writing/write-layout.js'
import { deltaCodes } from './codes.js'
import { type CutModel, cutModel, sliceOf } from './cut-model.js'
import { type DeltaCut, type DeltaDocument, frameKey } from './document.js'
import { type Readable, restoreFrame } from './frame.js'
import { overwrittenTensor } from './overwrite.js'
import { type OpenDelta, readDelta } from './read-delta.js'
import { restoredTensor } from './restore-tensor.js'
import type { Spool } from './spool.js'

export interface PlannedApply {
  readonly layout: Layout
  /** The format of the new model. */
  readonly format: string
  readonly files: readonly { readonly name: string; readonly size: number }[]
  /** Tensors that are made from the delta. */
  readonly changed: number
  readonly version?: string | undefined
  readonly baseVersion?: string | undefined
  /** Throws unless the files that were written have the digests of the new model. */
  check(written: readonly WrittenFile[]): void
}

export interface ApplyDeltaOptions {
  readonly signal?: AbortSignal | undefined
}

/** Bytes that may always be written, however small a delta is. */
const smallOutput = 64 * 2 ** 20

/** Checks that the delta fits the base as far as their indexes tell. The weights are compared when the layout is written. */
export async function planApply(
  base: Model,
  delta: Model,
  spool: Spool,
  { signal }: ApplyDeltaOptions = {},
): Promise<PlannedApply> {
  const opened = readDelta(delta)
  const from = cutModel(base)
  const baseName = base.files[0]?.name ?? 'base'
  const room = defaultLimits.expansion * (totalSize(base) + totalSize(delta)) + smallOutput
  const { version, baseVersion } = opened
  if (!opened.document) {
    const changed = opened.entries.size
    return { ...planPublic(base, from, opened, spool), changed, version, baseVersion, check() {} }
  }
  const { document, entries, name } = opened
  const files = document.new.files.map((file, i) => ({
    ...file,
    cuts: file.cuts ?? cutsOfBase(from, i, file.size, baseName),
  }))
  const size = files.reduce((sum, file) => sum + file.size, 0)
  if (size > room)
    failWith(deltaCodes.size, { file: name, message: `it would make ${size} bytes, of a base of ${totalSize(base)}` })
  const framed = size - files.reduce((sum, { cuts }) => sum + cuts.reduce((all, [, length]) => all + length, 0), 0)
  if (framed !== document.frame.length)
    failWith(deltaCodes.syntax, { file: name, path: 'tare.delta.frame', message: 'the ranges do not cover the files' })
  const tensorOf = tensorsFrom(document, from, opened, baseName)
  for (const { cuts } of files) for (const [, length, tensor] of cuts) tensorOf(tensor, length)
  const names = { base: baseName, delta: name }
  const frame = await restoreFrame(document.frame, {
    from: from.frame,
    entry: entries.get(frameKey),
    spool,
    names,
    signal,
  })
  return {
    layout: { files: layoutFiles(files, frame, tensorOf) },
    format: document.new.format,
    files: files.map((file) => ({ name: file.name, size: file.size })),
    changed: document.tensors.filter(({ key }) => key !== undefined).length,
    ...{ version, baseVersion },
    check: (written) => checkFiles(written, document, name),
  }
}

function checkFiles(written: readonly WrittenFile[], { new: { files } }: DeltaDocument, file: string): void {
  for (const [i, { digests, size }] of written.entries()) {
    const wanted = files[i]!
    if (size === wanted.size && digests.blake3 && toHex(digests.blake3) === wanted.digest) continue
    const message = `${wanted.name} does not come out with the digest that it should have: a tensor of the base that the delta does not change is another one`
    failWith(deltaCodes['wrong-result'], { file, path: 'tare.delta.new.files', message })
  }
}

function cutsOfBase({ files }: CutModel, i: number, size: number, file: string): readonly DeltaCut[] {
  const base = files[i]
  if (base?.source.size === size) return base.cuts.map(({ start, end, tensor }) => [start, end - start, tensor.name])
  const message = base
    ? `it has ${base.source.size} bytes, the base that the delta was made from has ${size}`
    : 'it has fewer files than the base that the delta was made from'
  return failWith(deltaCodes['wrong-base'], { file: base?.source.name ?? file, message })
}

type TensorOf = (name: string, length: number) => Payload

/** The payload of each tensor of the new model. */
function tensorsFrom(
  { tensors }: DeltaDocument,
  from: CutModel,
  { entries, name: file }: OpenDelta,
  baseName: string,
): TensorOf {
  const changes = new Map(tensors.map((tensor) => [tensor.name, tensor]))
  const inBase = (name: string, wanted: (length: number) => boolean): Payload => {
    const data = from.tensors.get(name)?.data
    if (data && wanted(data.byteLength)) return data
    const message = data
      ? `the tensor has ${data.byteLength} bytes, another number than the delta expects`
      : 'there is no such tensor'
    return failWith(deltaCodes['wrong-base'], { file: baseName, path: name, message })
  }
  return (name, length) => {
    const change = changes.get(name)
    if (!change) return inBase(name, (own) => own === length)
    if (change.length !== length)
      failWith(deltaCodes.syntax, {
        file,
        path: name,
        message: `it has ${change.length} bytes in one place and ${length} in another`,
      })
    const packed = change.key === undefined ? undefined : entries.get(change.key)
    if (change.key !== undefined && !packed)
      failWith(deltaCodes.syntax, { file, path: change.key, message: 'there is no such entry' })
    const base =
      change.from === undefined ? undefined : inBase(change.from, (own) => (packed ? own <= length : own === length))
    return restoredTensor({
      ...{ file, path: name, length, base, packed, baseName, width: change.width },
      ...{ baseDigest: change.base, newDigest: change.new },
    })
  }
}

/** A delta of another program: the base with other bytes in the places of the tensors. */
function planPublic(
  base: Model,
  from: CutModel,
  { entries, name: file, encoding, checksum, checksums }: OpenDelta,
  spool: Spool,
): Pick<PlannedApply, 'layout' | 'format' | 'files'> {
  const baseName = base.files[0]?.name ?? 'base'
  if (entries.size > 0 && requireFormat(base.format).capabilities.checksums !== 'none') {
    const message = `${base.format} has checksums over the tensors, and this delta says nothing about them; convert the base to safetensors first`
    failWith(deltaCodes['no-place'], { file: baseName, message })
  }
  for (const name of entries.keys())
    if (!from.tensors.has(name))
      failWith(deltaCodes['wrong-base'], { file: baseName, path: name, message: 'there is no such tensor' })
  const tensorOf: TensorOf = (name, length) => {
    const data = from.tensors.get(name)!.data!
    const packed = entries.get(name)
    if (!packed) return data
    const value = checksums.get(name)
    if (value === undefined)
      return failWith(deltaCodes.syntax, {
        file,
        path: `__metadata__[${JSON.stringify(name)}]`,
        message: 'there is no checksum',
      })
    const recipe = { file, path: name, length, base: data, packed, baseName, checksum: { name: checksum, value } }
    return encoding === 'overwrite' ? overwrittenTensor(recipe, spool) : restoredTensor(recipe)
  }
  const files = from.files.map(({ source, cuts }) => ({
    name: fileNameOf(source.name),
    size: source.size,
    cuts: cuts.map(({ start, end, tensor }): DeltaCut => [start, end - start, tensor.name]),
  }))
  for (const { cuts } of files) for (const [, length, tensor] of cuts) tensorOf(tensor, length)
  return { layout: { files: layoutFiles(files, from.frame, tensorOf) }, format: base.format, files }
}

interface LaidFile {
  readonly name: string
  readonly size: number
  readonly cuts: readonly DeltaCut[]
}

function layoutFiles(files: readonly LaidFile[], frame: Readable, tensorOf: TensorOf): FileLayout[] {
  let framed = 0
  return files.map(({ name, size, cuts }) => {
    const first = framed
    framed += size - cuts.reduce((sum, [, length]) => sum + length, 0)
    return { name, slots: slotsMadeBy(() => slotsOf(size, cuts, frame, first, tensorOf)) }
  })
}

/** The tensors of a file, and between them the frame from `at` on. */
function* slotsOf(
  size: number,
  cuts: readonly DeltaCut[],
  frame: Readable,
  at: number,
  tensorOf: TensorOf,
): Generator<Slot, void, void> {
  let [done, framed] = [0, at]
  for (const [offset, length, name] of [...cuts, [size, 0, ''] as const]) {
    if (offset > done) {
      yield { kind: 'payload', path: 'frame', payload: sliceOf(frame, framed, offset - done) }
      framed += offset - done
    }
    if (length > 0) yield { kind: 'payload', path: `data[${JSON.stringify(name)}]`, payload: tensorOf(name, length) }
    done = offset + length
  }
}
