// Repairs a sectioned file by rewriting it with the tensors that can be read: those whose bytes were cut off, and those that no reader
// can take, are left out and named.
import { Cursor } from '../../../bytes/index.js'
import {
  findSpecialIds,
  tableOf,
  type Vocabulary,
  vocabularyKind,
  vocabularyPart,
} from '../../../content/vocabulary.js'
import type { Model, Repair, WriteOptions } from '../../../model/index.js'
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
/** These come right when the file is rewritten. */
const laidOut: ReadonlySet<string> = new Set(['alignment', 'special-id', 'name-hash'])
const checksums: ReadonlySet<string> = new Set(['header-crc', 'data-crc', 'file-crc'])
/** These mean that the end is gone. */
const cut: ReadonlySet<string> = new Set(['total-file-size', 'data-section-range', 'footer-magic'])

export async function rewriteSectioned(damaged: Damaged, options: WriteOptions): Promise<Repair | undefined> {
  const { source, findings, errors, context } = damaged
  const { model } = damaged.file
  const bytes = await source.read(0, structs.header.size, { signal: context.signal })
  const header = structs.header.read(new Cursor(bytes, context.report))
  const isCut = BigInt(source.size) < header.totalFileSize && header.tensorDataOffset <= source.size
  const isRepairable = (code: string): boolean =>
    unreadable.has(code) || laidOut.has(code) || checksums.has(code) || (isCut && cut.has(code))
  if (![...errors].every(isRepairable) || model.tensors.length === 0) return undefined
  const unread = findings
    .filter(({ code }) => unreadable.has(bare(code)))
    .map(({ path, message }) => `a tensor that no reader takes (${path}: ${message})`)
  const lost = [...unread, ...(isCut ? await namesCutOff(header, damaged) : []), ...describeProof(damaged)]
  const repaired = [`the file was rewritten with the ${model.tensors.length} tensors that are whole`]
  if (errors.has('alignment')) repaired.push(`tensors begin at multiples of ${structs.alignment}, as the flag says`)
  if (errors.has('name-hash')) repaired.push('hashes of names were computed again')
  const whole = errors.has('special-id') ? withIdsByText(model, repaired) : model
  return { layout: { files: [await layoutSectioned(whole, { ...options, extra: {} })] }, repaired, lost }
}

async function namesCutOff(header: structs.Header, { source, file, context }: Damaged): Promise<string[]> {
  const kept = new Set(file.model.tensors.map(({ name }) => name))
  const { index } = await readIndexAgain(header, source, context)
  return index
    .filter(({ start, end, tensor }) => {
      const isBehind = Number.isFinite(start) && header.tensorDataOffset + end > source.size
      return isBehind && !kept.has(tensor.name)
    })
    .map(({ tensor: { name } }) => `${JSON.stringify(name)}: the file ends before its last byte`)
}

/** Special ids that are no ids are looked up by the texts of their tokens. */
function withIdsByText(model: Model, repaired: string[]): Model {
  const parts = model.parts.map((part) => {
    if (part.kind !== vocabularyKind) return part
    const { tokens, special, table } = part.content as Vocabulary
    repaired.push('special ids beyond the vocabulary were replaced by those of the tokens with the standard texts')
    return vocabularyPart(table ?? tableOf(tokens), { ...findSpecialIds(table ?? tableOf(tokens)), ...special })
  })
  return { ...model, parts }
}

function describeProof({ file, errors }: Damaged): string[] {
  if (!file.hasChecksums) return []
  const isProven = file.footer && file.data && !errors.has('data-crc')
  if (isProven && !errors.has('file-crc') && !errors.has('header-crc')) return []
  const what = isProven ? 'everything but the weights' : 'the weights'
  return [
    `the proof for ${what}: the new checksums cover the bytes as they are now; if they were damaged they still are, and it no longer shows`,
  ]
}
