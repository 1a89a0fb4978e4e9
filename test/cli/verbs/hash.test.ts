import { expect, test } from 'vitest'
import { Console } from '../../../src/cli/console/console.js'
import { toJsonLine } from '../../../src/cli/console/json.js'
import { describeHashes, differences, parseHashes, recordFor } from '../../../src/cli/verbs/hash/text.js'
import type { HashResult } from '../../../src/kit-node.js'

const result: HashResult = {
  file: 'dir/a model.st',
  format: 'safetensors',
  algorithm: 'crc32',
  fingerprint: 'aaaaaaaa',
  tensors: [
    { name: 'w', dtype: 'f32', shape: [1], digest: '00000001' },
    { name: 'odd\n# fingerprint 12345678', dtype: 'f32', shape: [1], digest: '00000002' },
    { name: 'empty', dtype: 'f32', shape: [1], digest: null },
  ],
}
const asText = (results: readonly HashResult[]): string =>
  results.flatMap((each) => [...describeHashes(each, new Console()), '']).join('\n')

test.each([
  ['text', asText([result])],
  ['JSON', toJsonLine(result)],
])('%s is read back', (_, printed) => {
  const [record] = parseHashes(printed)
  expect(record).toMatchObject({ file: 'dir/a model.st', algorithm: 'crc32', decoded: false, fingerprint: 'aaaaaaaa' })
  expect(record!.digests.size).toBe(3)
  expect(differences(record!, result)).toEqual([])
})

test.each([
  ['text', asText([result])],
  ['JSON', toJsonLine(result)],
])('differences from %s are named', (_, printed) => {
  const [record] = parseHashes(printed)
  const [w, odd, empty] = result.tensors
  const now: HashResult = { ...result, tensors: [{ ...w!, digest: '00000009' }, empty!, { ...odd!, name: 'new' }] }
  expect(differences(record!, now).map(({ what }) => what)).toEqual(['changed', 'added', 'missing'])
})

test('another type for the same bytes shows in the fingerprint', () => {
  const [record] = parseHashes(toJsonLine(result))
  expect(differences(record!, { ...result, fingerprint: 'bbbbbbbb' }).map(({ what }) => what)).toEqual(['fingerprint'])
})

test('the record of the same name counts; a single one serves any name', () => {
  const decoded: HashResult = { ...result, decoded: true }
  const other: HashResult = { ...result, file: 'other' }
  const records = parseHashes(asText([result, decoded, other]))
  expect(records.map((record) => record.decoded)).toEqual([false, true, false])
  expect(recordFor(records, 'other', {})?.file).toBe('other')
  expect(recordFor(records, 'dir/a model.st', { decoded: true })?.decoded).toBe(true)
  expect(recordFor(records, 'unknown', {})).toBeUndefined()
  expect(recordFor(records.slice(0, 1), 'unknown', {})).toBe(records[0])
  expect(recordFor(records, 'other', { algorithm: 'sha256' })).toBeUndefined()
})

test('what is neither gives nothing', () => {
  expect(parseHashes('hello\nworld')).toEqual([])
  expect(parseHashes('{"file":"x"}\n{broken')).toEqual([])
})
