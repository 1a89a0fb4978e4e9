// A directory with all shards of a set, and no index.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openInput, openModel } from '../../../src/kit-node.js'
import { tinyShapes, tinyTensors } from '../../families/tiny-model.js'
import { useTempDir } from '../../node/temp-dir.js'
import { convertToFiles } from '../../support/convert.js'

const at = useTempDir()

async function shards(folder: string, shardSize = 800): Promise<readonly string[]> {
  const tensors = tinyTensors(tinyShapes)
  const model = { format: 'memory', metadata: new Map(), tensors, parts: [], files: [] }
  const files = await convertToFiles(model, 'safetensors', { name: 'model.safetensors', shardSize })
  mkdirSync(at(folder), { recursive: true })
  const names = [...files.keys()].filter((name) => name.endsWith('.safetensors')).sort()
  for (const name of names) writeFileSync(join(at(folder), name), files.get(name)!)
  return names
}

describe('shards without an index', () => {
  it('are one model where the names say that all are there', async () => {
    const names = await shards('whole')
    expect(names.length).toBeGreaterThan(2)
    const model = await openModel(await openInput(at('whole')))
    expect(model.tensors.map(({ name }) => name).sort()).toEqual(Object.keys(tinyShapes).sort())
    expect(model.files).toHaveLength(names.length)
  })

  it('are each a file of its own where one is named', async () => {
    const [first] = await shards('named')
    const model = await openModel(await openInput(join(at('named'), first!)))
    expect(model.files).toHaveLength(1)
    expect(model.tensors.length).toBeLessThan(Object.keys(tinyShapes).length)
  })

  it('are no model where one is missing, or another file is there', async () => {
    const names = await shards('cut')
    rmSync(join(at('cut'), names[1]!))
    await expect(openInput(at('cut'))).rejects.toThrow('it is not clear which')
    const all = await shards('more')
    writeFileSync(join(at('more'), 'adapter.safetensors'), '')
    expect(all.length).toBeGreaterThan(2)
    await expect(openInput(at('more'))).rejects.toThrow('it is not clear which')
  })

  it('are refused where two have a tensor of one name', async () => {
    const names = await shards('twice')
    const tensors = tinyTensors({ 'model.norm.weight': [8] })
    const model = { format: 'memory', metadata: new Map(), tensors, parts: [], files: [] }
    const files = await convertToFiles(model, 'safetensors', { name: 'a.safetensors' })
    for (const name of names.slice(0, 2)) writeFileSync(join(at('twice'), name), files.get('a.safetensors')!)
    await expect(openModel(await openInput(at('twice')))).rejects.toThrow('an earlier file of the set has, too')
  })
})
