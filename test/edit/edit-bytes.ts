import { expect } from 'vitest'
import {
  type Edits,
  type FilePatch,
  hashModel,
  MemorySink,
  MemorySource,
  type Model,
  openModel,
  planEdit,
  runConversion,
  verifySource,
} from '../../src/kit.js'

export function patched(bytes: Uint8Array, { patches, size }: FilePatch): Uint8Array {
  const result = new Uint8Array(size)
  result.set(bytes.subarray(0, size))
  for (const patch of patches) result.set(patch.bytes, patch.offset)
  return result
}

export interface EditResult {
  readonly how: 'in place' | 'rewrite'
  readonly before: Model
  readonly after: Model
  readonly bytes: Uint8Array
  readonly patch: FilePatch | undefined
}

/** Edits a file in memory; whatever the way, the file must be sound and every tensor's bytes the same. */
export async function editBytes(bytes: Uint8Array, from: string, edits: Edits, name = 'm'): Promise<EditResult> {
  const before = await openModel(new MemorySource(bytes, name), { from })
  const { patch, conversion } = await planEdit(before, edits, { name })
  const files = new Map<string, Uint8Array>()
  if (patch) files.set(name, patched(bytes, patch))
  else await runConversion(conversion, async (each) => new MemorySink(each, files))
  const result = files.get(name)!
  const findingsOf = async (file: Uint8Array): Promise<string[]> => {
    const { findings } = await verifySource(new MemorySource(file, name), { from })
    return findings.filter(({ severity }) => severity !== 'note').map(({ code }) => code)
  }
  // What other programs got wrong may be right now; nothing else changes.
  const had = await findingsOf(bytes)
  expect((await findingsOf(result)).filter((code) => !had.includes(code))).toEqual([])
  const after = await openModel(new MemorySource(result, name), { from })
  const renames = new Map(edits.rename)
  const digests = async (model: Model, rename = new Map<string, string>()): Promise<Map<string, string | null>> =>
    new Map((await hashModel(model)).tensors.map((each) => [rename.get(each.name) ?? each.name, each.digest]))
  expect(new Map([...(await digests(after))].sort())).toEqual(new Map([...(await digests(before, renames))].sort()))
  return { how: patch ? 'in place' : 'rewrite', before, after, bytes: result, patch }
}
