// One colour for each element type of a model, the same wherever the type is shown: the commonest types get the colours that are farthest
// apart.
import { categories, inkOn } from 'tare/kit'
import type { TypeShare } from '../engine/rooms/models/open.js'

export interface TypeColor {
  readonly paper: string
  readonly ink: string
}

const css = ([red, green, blue]: readonly [number, number, number]): string => `rgb(${red} ${green} ${blue})`

export function typeColors(types: readonly TypeShare[]): (type: string) => TypeColor {
  const colors = new Map(types.map(({ type }, i) => [type, categories[Math.min(i, categories.length - 1)]!]))
  return (type) => {
    const color = colors.get(type) ?? categories.at(-1)!
    return { paper: css(color), ink: css(inkOn(color)) }
  }
}
