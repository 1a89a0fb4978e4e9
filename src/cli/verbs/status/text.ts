import type { JobStatus } from '../../../kit-node.js'

const maxRanges = 12

/** `parts 0–3, 7, 9–12`: a person wants to see where they are, not all of them. */
export function rangesOf(numbers: readonly number[]): string {
  const ranges: [first: number, last: number][] = []
  for (const number of numbers) {
    const last = ranges.at(-1)
    if (last && last[1] === number - 1) last[1] = number
    else ranges.push([number, number])
  }
  const shown = ranges.slice(0, maxRanges).map(([first, last]) => (first === last ? `${first}` : `${first}–${last}`))
  return `${numbers.length === 1 ? 'part' : 'parts'} ${shown.join(', ')}${ranges.length > maxRanges ? ', …' : ''}`
}

export function nextStep(state: JobStatus['state'], file: string): string {
  if (state === 'working') return `next: \`tare work ${file}\` makes what is missing`
  if (state === 'ready') return `next: \`tare finish ${file}\``
  return state === 'finished' ? 'the output is complete' : 'its parts are gone, since it was discarded; plan it again'
}
