import { expect, it } from 'vitest'
import { formats } from '../../../src/kit.js'
import { groupFiles } from '../../../viewer/src/engine/rooms/models/group-files.js'

const mains = (paths: readonly string[]): string[] => groupFiles(paths, formats).map((group) => group.paths[0]!)

it('opens an index with its shards', () => {
  const paths = [
    'm/model-00001-of-00002.safetensors',
    'm/model-00002-of-00002.safetensors',
    'm/model.safetensors.index.json',
    'm/config.json',
  ]
  const groups = groupFiles(paths, formats)
  expect(groups).toHaveLength(1)
  expect(groups[0]!.paths[0]).toBe('m/model.safetensors.index.json')
  expect(new Set(groups[0]!.paths)).toEqual(new Set(paths))
  expect(groups[0]!.isFolder).toBe(true)
})

it('takes files that have nothing to do with each other for models of their own', () => {
  expect(mains(['a.gguf', 'b.safetensors', 'notes.txt']).sort()).toEqual(['a.gguf', 'b.safetensors'])
  expect(mains(['x/a.gguf', 'y/b.gguf']).sort()).toEqual(['x/a.gguf', 'y/b.gguf'])
})

it('opens the first of several parts', () => {
  expect(mains(['m-00001-of-00002.gguf', 'm-00002-of-00002.gguf'])).toEqual(['m-00001-of-00002.gguf'])
})

it('takes a checkpoint in several files for one model, by a file whose name begins with a dot', () => {
  const parts = ['c/__0_0.distcp', 'c/__1_0.distcp']
  const groups = groupFiles([...parts, 'c/.metadata', 'c/.DS_Store'], formats)
  expect(groups).toHaveLength(1)
  expect(groups[0]!.paths[0]).toBe('c/.metadata')
  expect(groups[0]!.isFolder).toBe(true)
  // Without it, something can be said about each part.
  expect(mains(parts)).toEqual(parts)
})

it('opens whatever it is, so that something can be said about it', () => {
  expect(groupFiles(['notes.txt'], formats)).toEqual([{ paths: ['notes.txt'], isFolder: false }])
})
