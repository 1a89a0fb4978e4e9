import { UsageError } from '../../status.js'

/** The limits of `smallestSide` and `largestSide`, repeated because declarations import nothing of the library; a test compares them. */
export const sides = [240, 8192] as const

/** `1200x900`. */
export function parsePictureSize(text: string): { readonly width: number; readonly height: number } {
  const [width = 0, height = 0] = /^(\d{1,5})x(\d{1,5})$/i.exec(text)?.slice(1).map(Number) ?? []
  const isPossible = (side: number): boolean => side >= sides[0] && side <= sides[1]
  if (!isPossible(width) || !isPossible(height))
    throw new UsageError(`Width and height are wanted, ${sides[0]} to ${sides[1]} each, such as 1200x900.`)
  return { width, height }
}
