import type { MetaList, MetaValue } from '../model/index.js'

/** Some items of a list. A vocabulary of 150,000 tokens is not decoded to show a few. */
export const itemsBetween = (list: MetaList, start: number, end: number): readonly MetaValue[] =>
  list.slice?.(start, end) ?? list.values().slice(start, end)
