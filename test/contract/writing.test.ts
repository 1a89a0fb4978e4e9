// What a format writes, it reads back as the same model, and writes again as the same bytes.
import { basename } from 'node:path'
import { describe, expect, it } from 'vitest'
import { formats, hashModel, openModel } from '../../src/kit.js'
import { convertToFiles, sourceOf } from '../support/convert.js'
import { fixtureSource, isAccepted, presentCases } from '../support/fixtures.js'

describe.each(formats.filter((format) => format.capabilities.write).map((format) => format.id))('%s, writing', (id) => {
  const { write } = formats.find((format) => format.id === id)!.capabilities

  it.each(presentCases(id).filter(isAccepted))('$file survives a round trip', async (each) => {
    const model = await openModel(fixtureSource(id, each.file))
    // A file with one tensor need not have room for its name: the file's own name is the tensor's.
    const isNamedByFile = write?.maxTensors === 1 || model.tensors.some((tensor) => tensor.isNamedByFile)
    const name = isNamedByFile ? basename(each.file) : 'out'
    const once = await convertToFiles(model, id, { name })
    const again = await openModel(sourceOf(once))
    const before = await hashModel(model)
    const after = await hashModel(again)
    expect(after.fingerprint).toBe(before.fingerprint)
    expect(sortedKeys(again.metadata)).toEqual(sortedKeys(model.metadata))
    const twice = await convertToFiles(again, id, { name })
    expect([...twice.keys()]).toEqual([...once.keys()])
    for (const [name, bytes] of once) expect(Buffer.compare(bytes, twice.get(name)!), name).toBe(0)
  })
})

const sortedKeys = (map: ReadonlyMap<string, unknown>): string[] => [...map.keys()].sort()
