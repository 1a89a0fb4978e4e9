// Real edits of real files, stopped at every call to the file system: afterwards the file is the old one or the new one, and sound.
import { readFileSync, writeFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { MemorySource, type MetaValue, openModel, planEdit, text, verifySource } from '../../src/kit.js'
import { FileSource, patchFile, recoverEdit } from '../../src/node/index.js'
import { stopAtCall } from '../node/stop-at-call.js'
import { useTempDir } from '../node/temp-dir.js'
import { convertToFiles } from '../support/convert.js'
import { sampleModel, sampleTensor } from '../support/sample-model.js'

const at = useTempDir()
const metadata = new Map<string, MetaValue>([
  ['general.architecture', text('llama')],
  ['author', text('somebody')],
])
const sample = sampleModel([sampleTensor('a', 'f32', [50], 1), sampleTensor('b', 'f32', [7, 9], 2)], metadata)

describe.each([
  ['mcf', {}],
  ['aero', { 'control-hash': true }],
  ['safetensors', { 'header-slack': 500 }],
  ['gguf', { 'header-slack': 500 }],
])('%s', (format, extra) => {
  test.each([
    ['grows', { set: [['author', 'x'.repeat(300)]], rename: [['b', 'c']] }],
    ['shrinks', { unset: ['author'] }],
  ] as const)('whose metadata %s', async (_how, edits) => {
    const [bytes] = [...(await convertToFiles(sample, format, { extra: { ...extra }, deterministic: true })).values()]
    const path = at('m')
    const model = await openModel(new MemorySource(bytes!, 'm'), { from: format })
    const { patch } = await planEdit(model, edits, { name: 'm' })
    const seen = new Set<string>()
    let edited: Buffer | undefined
    for (let call = 1; ; call++) {
      writeFileSync(path, bytes!)
      const source = await FileSource.open(path)
      const wasStopped = await stopAtCall(call, () => patchFile(source, patch!, { clone: false }))
      await source.close()
      const recovered = await recoverEdit(path)
      const now = readFileSync(path)
      const isOld = Buffer.compare(now, bytes!) === 0
      seen.add(recovered ? 'recovered' : isOld ? 'old' : 'new')
      if (recovered) expect(isOld, `call ${call}`).toBe(true)
      if (!isOld) edited ??= now
      if (!isOld) expect(Buffer.compare(now, edited!), `call ${call}`).toBe(0)
      if (!wasStopped) break
    }
    expect(seen).toEqual(new Set(['old', 'recovered', 'new']))
    const { findings } = await verifySource(new MemorySource(new Uint8Array(edited!), 'm'), { from: format })
    expect(findings.filter(({ severity }) => severity !== 'note')).toEqual([])
  })
})
