import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type ByteSource, ExtentList, MemorySource } from '../../../src/bytes/index.js'
import { collectingReport, type Finding, strictReport, TareError } from '../../../src/errors/index.js'
import { defaultLimits, readPayload } from '../../../src/model/index.js'
import { checkMember, memberPayload } from '../../../src/payloads/zip-payload.js'
import { layOutZip, type NewMembers, type ZipPiece } from '../../../src/wire/zip/write.js'
import { readMemberHead, readZip, type ZipMember } from '../../../src/wire/zip/zip.js'
import { type CraftMember, type CraftOptions, craftZip, u64 } from './build.js'

const bytes = (length: number, seed = 1): Uint8Array =>
  Uint8Array.from({ length }, (_, i) => (i * 31 + seed * 17) % 256)
const maxDirectory = 1 << 24

/** Reads and checks an archive; gives its members, or those that were there before it could not go on. */
async function examine(
  file: Uint8Array,
): Promise<{ members: readonly ZipMember[]; codes: string[]; findings: Finding[] }> {
  const findings: Finding[] = []
  const report = collectingReport('x.zip', findings)
  const source = new MemorySource(file, 'x.zip')
  let members: readonly ZipMember[] = []
  try {
    members = (await readZip(source, { report, maxDirectory })).members
    const context = { report, limits: defaultLimits, lenient: false, extra: {}, checked() {} }
    for (const member of members) await checkMember(source, member, context)
  } catch (error) {
    expect(error).toBeInstanceOf(TareError)
  }
  for (const finding of findings) expect(finding.offset, finding.code).toBeTypeOf('number')
  return { members, codes: findings.map(({ code }) => code), findings }
}

const listed = (members: readonly { readonly name: string; readonly size: number }[]): NewMembers => ({
  count: members.length,
  nameAt: (i) => members[i]!.name,
  sizeAt: (i) => members[i]!.size,
})

const one: CraftMember = { name: 'a', content: bytes(100) }

const memberArb = fc.record(
  {
    name: fc.string({ minLength: 1, maxLength: 20, unit: 'grapheme' }).filter((name) => !/[\0/\\:]|^\.\.$/.test(name)),
    content: fc.uint8Array({ maxLength: 300 }),
    deflate: fc.boolean(),
    descriptor: fc.constantFrom('plain' as const, 'signed' as const, 'wide' as const),
    extra: fc.constantFrom(new Uint8Array(), Uint8Array.of(0x46, 0x42, 2, 0, 90, 90), bytes(200)),
  },
  { requiredKeys: ['name', 'content'] },
)

describe('reading', () => {
  it('reads what is well made, whatever the writer likes', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(memberArb, { maxLength: 6, selector: ({ name }) => name }),
        fc.record({ comment: fc.uint8Array({ maxLength: 40 }), zip64: fc.boolean() }),
        async (members, options) => {
          const file = craftZip(members as CraftMember[], options)
          const { members: found, codes } = await examine(file)
          expect(codes).toEqual([])
          expect(found.map(({ name }) => name)).toEqual(members.map(({ name }) => name))
          const source = new MemorySource(file)
          for (const [i, member] of found.entries()) {
            const content = members[i]!.content
            expect(await readPayload(memberPayload(source, member))).toEqual(content)
            const middle = Math.floor(content.length / 2)
            expect(await readPayload(memberPayload(source, member, middle))).toEqual(content.slice(middle))
            expect(await readMemberHead(source, member, 10)).toEqual(content.slice(0, 10))
          }
        },
      ),
      { numRuns: 60 },
    )
  })

  it('hands out stored members where they lie', async () => {
    const file = craftZip([one, { name: 'b', content: bytes(50, 2) }])
    const { members } = await examine(file)
    const source = new MemorySource(file)
    const { origin } = memberPayload(source, members[1]!, 10, 20)
    expect(file.slice(origin!.offset, origin!.offset + 20)).toEqual(bytes(50, 2).slice(10, 30))
  })

  it('accounts for every byte but the data', async () => {
    const file = craftZip([{ ...one, descriptor: 'signed' }], { comment: bytes(7), zip64: true })
    const extents = new ExtentList()
    const { members } = await readZip(new MemorySource(file), { report: strictReport(''), extents, maxDirectory })
    const covered = extents.extents.reduce((sum, { length }) => sum + length, 0)
    expect(covered + members[0]!.storedSize).toBe(file.length)
  })

  it('never fails in another way than with its own error, whatever byte is changed', async () => {
    const file = craftZip(
      [
        { ...one, deflate: true, descriptor: 'signed' },
        { name: 'b', content: bytes(9) },
      ],
      { zip64: true },
    )
    for (let at = 0; at < file.length; at++) {
      for (const flip of [at % 2 === 0 ? 0xff : 0x01]) {
        const changed = file.slice()
        changed[at] = changed[at]! ^ flip
        await examine(changed)
      }
    }
  })

  it('reads names of the old character set', async () => {
    const { members } = await examine(craftZip([{ ...one, name: Uint8Array.of(0x81, 0xe1) }]))
    expect(members[0]!.name).toBe('üß')
  })

  it('stops inflating early when a consumer has enough', async () => {
    const file = craftZip([{ name: 'a', content: new Uint8Array(4_000_000), deflate: true }])
    const { members } = await examine(file)
    const payload = memberPayload(new MemorySource(file), members[0]!)
    for await (const chunk of payload.chunks(1000)) {
      expect(chunk).toEqual(new Uint8Array(1000))
      break
    }
  })
})

const cases: [code: string, members: CraftMember[], options?: CraftOptions][] = [
  ['zip/disks', [one], { disk: 3 }],
  ['zip/disks', [{ ...one, central: { disk: 2 } }]],
  ['zip/prefix', [one], { prefix: bytes(17) }],
  ['zip/directory', [one], { directoryOffset: 1000 }],
  ['zip/count', [one], { count: 2 }],
  ['zip/name-text', [{ ...one, name: Uint8Array.of(0xff), local: { flags: 2048 }, central: { flags: 2048 } }]],
  ['zip/name-text', [{ ...one, name: 'a\0b' }]],
  ['zip/name-text', [{ ...one, name: '' }]],
  ['zip/name-path', [{ ...one, name: '../a' }]],
  ['zip/name-path', [{ ...one, name: '\\a' }]],
  ['zip/name-path', [{ ...one, name: '/../a' }]],
  ['zip/name-path', [{ ...one, name: 'C:a' }]],
  ['zip/name-path', [{ ...one, name: 'a\\..\\b' }]],
  ['zip/duplicate-name', [one, one]],
  ['zip/encrypted', [{ ...one, local: { flags: 1 }, central: { flags: 1 } }]],
  ['zip/encrypted', [{ ...one, local: { flags: 64 }, central: { flags: 64 } }]],
  ['zip/method', [{ ...one, local: { method: 12 }, central: { method: 12 } }]],
  ['zip/ratio', [{ ...one, deflate: true, local: { size: 1e6 }, central: { size: 1e6 } }]],
  ['zip/size', [{ ...one, local: { size: 99 }, central: { size: 99 } }]],
  ['zip/size', [{ ...one, deflate: true, local: { size: 99 }, central: { size: 99 } }]],
  ['zip/size', [{ ...one, deflate: true, local: { size: 101 }, central: { size: 101 } }]],
  ['zip/past-end', [{ ...one, central: { offset: 5000 } }]],
  ['zip/past-end', [{ ...one, local: { storedSize: 999, size: 999 }, central: { storedSize: 999, size: 999 } }]],
  ['zip/zip64', [{ ...one, central: { size: 0xffffffff } }]],
  ['zip/zip64', [{ ...one, central: { size: 0xffffffff, extra: Uint8Array.of(1, 0, 8, 0, ...bytes(8)) } }]],
  ['zip/local', [{ ...one, central: { offset: 5 } }]],
  ['zip/local-differs', [{ ...one, local: { name: 'b' } }]],
  ['zip/local-differs', [{ ...one, local: { method: 8 } }]],
  ['zip/local-differs', [{ ...one, local: { flags: 1 } }]],
  ['zip/local-differs', [{ ...one, local: { crc: 7 } }]],
  ['zip/local-differs', [{ ...one, local: { size: 7 } }]],
  ['zip/descriptor', [{ ...one, descriptor: 'signed', descriptorCrc: 7 }]],
  ['zip/descriptor', [{ ...one, descriptor: 'plain', gap: 3 }]],
  ['zip/overlap', [one, { ...one, name: 'a', central: { offset: 0 } }]],
  [
    'zip/gap',
    [
      { ...one, gap: 9 },
      { ...one, name: 'b' },
    ],
  ],
  ['zip/crc', [{ ...one, local: { crc: 7 }, central: { crc: 7 } }]],
  ['zip/deflate', [{ ...one, local: { method: 8 }, central: { method: 8 } }]],
]

describe('members that share bytes', () => {
  const content = bytes(100)
  const shared = { ...one, content, deflate: true }
  const again = (name: string): CraftMember => ({ ...shared, name, central: { offset: 0 } })
  const file = craftZip([shared, again('b'), again('c'), { ...one, name: 'z' }])

  it('end the reading', async () => {
    const { codes, members } = await examine(file)
    expect(codes.filter((code) => code === 'zip/overlap')).toHaveLength(1)
    expect(members).toEqual([])
  })

  it('are left out where whatever is whole is saved, so that the rest lie side by side', async () => {
    const lost: (string | undefined)[] = []
    const context = { report: collectingReport('x.zip', []), maxDirectory: 1e6 }
    const archive = await readZip(new MemorySource(file, 'x.zip'), {
      ...context,
      onLost: (member) => void lost.push(member?.name),
    })
    expect(lost).toEqual([one.name, 'b'])
    expect(archive.members.map(({ name }) => name)).toEqual(['c', 'z'])
  })
})

describe('checks', () => {
  it.each(cases)('%s', async (code, members, options) => {
    expect((await examine(craftZip(members, options))).codes).toContain(code)
  })

  it('finds the end of the archive, and says when it is not clear', async () => {
    const file = craftZip([one])
    expect((await examine(file.slice(0, -1))).codes).toEqual(['zip/no-end'])
    expect((await examine(new Uint8Array())).codes).toEqual(['zip/no-end'])
    expect((await examine(craftZip([one], { comment: bytes(9) }).slice(0, -1))).codes).toEqual(['zip/comment'])
    expect((await examine(Uint8Array.from([...file, 1, 2]))).codes).toEqual(['zip/trailing-bytes'])
    const fake = Uint8Array.of(0x50, 0x4b, 5, 6, ...new Uint8Array(30))
    const { codes, members } = await examine(craftZip([one], { comment: fake }))
    expect([codes, members.length]).toEqual([['zip/several-ends'], 1])
  })

  it('wants the zip64 records to agree', async () => {
    const file = craftZip([one], { zip64: true })
    const at = file.length - 22 - 20
    const change = (offset: number, value: number): Uint8Array => file.with(at + offset, value)
    expect((await examine(change(8, file[at + 8]! + 1))).codes).toEqual(['zip/zip64']) // the locator's offset
    expect((await examine(change(-56, 0))).codes).toEqual(['zip/zip64']) // the record's signature
    expect((await examine(change(-52, 45))).codes).toEqual(['zip/zip64']) // the record's size
    expect((await examine(change(0, 0))).codes).toEqual(['zip/zip64']) // no locator at all
    expect((await examine(change(16, 2))).codes).toEqual(['zip/disks'])
    const end = file.length - 22
    expect((await examine(file.with(end + 10, 9).with(end + 11, 0))).codes).toEqual(['zip/zip64']) // another count
  })

  it('takes no more directory than it is allowed to', async () => {
    const findings: Finding[] = []
    const reading = readZip(new MemorySource(craftZip([one])), {
      report: collectingReport('', findings),
      maxDirectory: 10,
    })
    await expect(reading).rejects.toBeInstanceOf(TareError)
    expect(findings[0]!.code).toBe('zip/directory-size')
  })

  it('reads sizes from the wide field', async () => {
    const extra = Uint8Array.of(1, 0, 24, 0, ...u64(100), ...u64(100), ...u64(0))
    const wide = { size: 0xffffffff, storedSize: 0xffffffff, offset: 0xffffffff, extra }
    const local = {
      size: 0xffffffff,
      storedSize: 0xffffffff,
      extra: Uint8Array.of(1, 0, 16, 0, ...u64(100), ...u64(100)),
    }
    expect((await examine(craftZip([{ ...one, central: wide, local }]))).codes).toEqual([])
  })
})

/** A file that is mostly zeros: pieces at their places, and nothing is kept of the rest. */
class SparseSource implements ByteSource {
  readonly name = 'sparse'
  readonly size: number
  readonly #pieces: readonly { at: number; bytes: Uint8Array }[]

  constructor(pieces: readonly { at: number; bytes: Uint8Array }[], size: number) {
    this.#pieces = pieces
    this.size = size
  }

  async read(offset: number, length: number): Promise<Uint8Array> {
    const result = new Uint8Array(length)
    for (const { at, bytes: piece } of this.#pieces) {
      const from = Math.max(at, offset)
      const to = Math.min(at + piece.length, offset + length)
      if (from < to) result.set(piece.subarray(from - at, to - at), from - offset)
    }
    return result
  }

  async close(): Promise<void> {}
}

describe('writing', () => {
  it('aligns members, and uses 64 bits where 32 do not do', async () => {
    const sizes = [100, 5 * 2 ** 30, 7, 0xffffffff, 0]
    const members = sizes.map((size, i) => ({ name: `ü${'x'.repeat(i * 7)}`, size }))
    const { head, tail } = layOutZip(listed(members), 64)
    const pieces: { at: number; bytes: Uint8Array }[] = []
    let at = 0
    const put = (piece: ZipPiece): void => {
      const content = piece.kind === 'bytes' ? piece.bytes : new Uint8Array(4)
      pieces.push({ at, bytes: content })
      at += content.length
    }
    for (const i of members.keys()) {
      for (const piece of head(i)) {
        if (piece.kind === 'crc32') expect(piece.covers[1] - piece.covers[0]).toBe(sizes[i])
        put(piece)
      }
      expect(at % 64).toBe(0)
      at += sizes[i]!
    }
    for (const piece of tail()) put(piece)
    const archive = await readZip(new SparseSource(pieces, at), { report: strictReport(''), maxDirectory })
    expect(archive.members.map(({ name, size }) => ({ name, size }))).toEqual(members)
  })

  it('lists more members than 16 bits count', async () => {
    const members = Array.from({ length: 65_536 }, (_, i) => ({ name: String(i), size: 0 }))
    const { head, tail } = layOutZip(listed(members), 1)
    const all = [...members.flatMap((_, i) => head(i)), ...tail()].map((piece) =>
      piece.kind === 'bytes' ? piece.bytes : new Uint8Array(4),
    )
    const source = new MemorySource(Buffer.concat(all))
    const archive = await readZip(source, { report: strictReport(''), maxDirectory })
    expect(archive.members.length).toBe(members.length)
  })
})
