import { describe, expect, it } from 'vitest'
import { pictureWords, planeFrom, settingsFrom } from '../../../viewer/src/screens/tensor/settings.js'

const wordsFor = (shape: readonly number[], query: Readonly<Record<string, string>>): string | undefined =>
  pictureWords('m.gguf', { name: 'w', shape }, planeFrom(shape, query), settingsFrom(query))?.join(' ')

describe('the command that draws a map', () => {
  it('has what is not the default', () => {
    expect(wordsFor([4, 8], {})).toBe('tare picture m.gguf w --scale sigma -o map.png')
    expect(wordsFor([4, 8], { scale: 'log', colors: 'gray', cells: 'rms' })).toBe(
      'tare picture m.gguf w --scale log --colors gray --cells rms -o map.png',
    )
  })

  it('names the plane that is shown, whatever its axes', () => {
    expect(wordsFor([2, 4, 8], { at: '1' })).toContain(' --slice 1,:,: ')
    expect(wordsFor([2, 3, 4, 8], { axes: '0,3', at: '2,1' })).toContain(' --slice :,2,1,: ')
    expect(wordsFor([2, 3, 4], { axes: '2,0' })).toContain(' --slice :,0,: ')
  })

  it('is none for what no command draws', () => {
    expect(wordsFor([4, 256], { layer: 'codes' })).toBeUndefined()
  })
})
