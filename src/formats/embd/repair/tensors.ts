// Mends a sectioned file by writing it anew with the tensors that can be read: those whose bytes were cut off, and those that no reader
// can take, are left out and named.
import { Cursor } from '../../../bytes/index.js'
import { NameSet } from '../../../bytes/name-set.js'
import {
  findSpecialIds,
  tableOf,
  type Vocabulary,
  vocabularyKind,
  vocabularyPart,
} from '../../../content/vocabulary.js'
import type { Model, Repair, WriteOptions } from '../../../model/index.js'
import { fileOf } from '../parts.js'
import { layoutSectioned } from '../sectioned/layout.js'
import * as structs from '../structs.js'
import { bare, type Damaged, readIndexAgain } from './damaged.js'

/** A tensor with one of these is not among those that were read. */
const unreadable: ReadonlySet<string> = new Set([
  'data-range',
  'dtype',
  'ndim',
  'dim-zero',
  'shape-overflow',
  'name-utf8',
  'duplicate-tensor-name',
])
/** These come right when the file is laid out anew. */
const laidOut: ReadonlySet<string> = new Set(['alignment', 'special-id', 'name-hash'])
const checksums: ReadonlySet<string> = new Set(['header-crc', 'data-crc', 'file-crc'])
/** These mean that the end is gone. */
const cut: ReadonlySet<string> = new Set(['total-file-size', 'data-section-range', 'footer-magic'])

export async function rewriteSectioned(damaged: Damaged, options: WriteOptions): Promise<Repair | undefined> {
  const { source, model, findings, errors, context } = damaged
  const bytes = await source.read(0, structs.header.size, { signal: context.signal })
  const header = structs.header.read(new Cursor(bytes, context.report))
  const isCut = BigInt(source.size) < header.totalFileSize && header.tensorDataOffset <= source.size
  const isRepairable = (code: string): boolean =>
    unreadable.has(code) || laidOut.has(code) || checksums.has(code) || (isCut && cut.has(code))
  if (![...errors].every(isRepairable) || model.tensors.length === 0) return undefined
  const unread = findings
    .filter(({ code }) => unreadable.has(bare(code)))
    .map(({ path, message }) => `a tensor that no reader takes (${path}: ${message})`)
  // Spread into a list, not into a call: there can be more of them than a call takes arguments.
  const lost = [...unread, ...(isCut ? await namesCutOff(header, damaged) : []), ...describeProof(damaged)]
  const repaired = [`the file was laid out anew with the ${model.tensors.length} tensors that are whole`]
  if (errors.has('alignment')) repaired.push(`tensors begin at multiples of ${structs.alignment}, as the flag says`)
  if (errors.has('name-hash')) repaired.push('hashes of names were computed anew')
  const whole = errors.has('special-id') ? withIdsByText(model, repaired) : model
  return { layout: { files: [await layoutSectioned(whole, { ...options, extra: {} })] }, repaired, lost }
}

async function namesCutOff(header: structs.Header, { source, model, context }: Damaged): Promise<string[]> {
  const kept = new NameSet((position) => model.tensors.at(position)!.name)
  for (const [position, { name }] of model.tensors.entries()) kept.add(name, position)
  const { tensors, offsets, sizes } = (await readIndexAgain(header, source, context)).index
  const lost: string[] = []
  for (const [i, { name }] of tensors.entries()) {
    const isBehind = header.tensorDataOffset + offsets[i]! + sizes[i]! > source.size && Number.isFinite(offsets[i])
    if (isBehind && kept.find(name) === undefined)
      lost.push(`${JSON.stringify(name)}: the file ends before its last byte`)
  }
  return lost
}

/** Special ids that are no ids are looked up by the texts of their tokens. */
function withIdsByText(model: Model, repaired: string[]): Model {
  const parts = model.parts.map((part) => {
    if (part.kind !== vocabularyKind) return part
    const { tokens, special, table } = part.content as Vocabulary
    repaired.push('special ids beyond the vocabulary were replaced by those of the tokens with the usual texts')
    return vocabularyPart(table ?? tableOf(tokens), { ...findSpecialIds(table ?? tableOf(tokens)), ...special })
  })
  return { ...model, parts }
}

function describeProof({ model, errors }: Damaged): string[] {
  const file = fileOf(model)
  if (file?.layout !== 'sectioned' || !file.checksums) return []
  const isProven = file.footer && file.data && !errors.has('data-crc')
  if (isProven && !errors.has('file-crc') && !errors.has('header-crc')) return []
  const what = isProven ? 'everything but the weights' : 'the weights'
  return [
    `the proof for ${what}: the new checksums cover the bytes as they are now; if they were damaged they still are, and it no longer shows`,
  ]
}
