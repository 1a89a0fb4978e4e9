// What a file says about its own form and the model has no other place for. It goes along as a derived part, so that writing the same
// model again gives the same bytes; other formats have no use for it.
import type { Part } from '../../model/index.js'
import { type Section, sectionName } from './sections.js'

export const notesKind = 'mcf.layout'

export interface Notes {
  readonly minor: number
  readonly flags: bigint
  /** The types of all sections, in the order of the directory. */
  readonly directory: readonly number[]
  /** Sections whose version is not 1, by type. */
  readonly versions: ReadonlyMap<number, number>
  /** A QuantInfo section can be there without any record. */
  readonly hasQuantInfo: boolean
  /** The alignment that explains the tensors' offsets, if any. Only a writer needs it, so it is worked out when asked for. */
  alignment(): number | undefined
}

const maxShown = 16

export function notesPart(notes: Notes, sections: readonly Section[]): Part {
  const names = sections.slice(0, maxShown).map(({ type }) => sectionName(type))
  const value = { flags: `0x${notes.flags.toString(16)}`, sections: names }
  return { kind: notesKind, sharing: 'derived', value, content: notes }
}

export const notesOf = (parts: readonly Part[]): Notes | undefined =>
  parts.find((part) => part.kind === notesKind)?.content as Notes | undefined
