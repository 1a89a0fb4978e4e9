import { describe, expect, it } from 'vitest'
import { MemorySink } from '../../src/bytes/index.js'
import type { Layout, Payload, Slot } from '../../src/model/index.js'
import { writeLayout } from '../../src/writing/write-layout.js'

/** Payloads that write down when they are begun, asked, and ended. */
function payloadOf(name: string, pieces: readonly string[], log: string[], given: Partial<Payload> = {}): Payload {
  const bytes = pieces.map((piece) => new TextEncoder().encode(piece))
  return {
    byteLength: bytes.reduce((sum, each) => sum + each.byteLength, 0),
    isMadeElsewhere: true,
    async *chunks() {
      log.push(`${name} begins`)
      try {
        for (const each of bytes) yield each
      } finally {
        log.push(`${name} ends`)
      }
    },
    ...given,
  }
}

async function write(payloads: readonly Payload[], sink = new MemorySink('out')): Promise<string> {
  const gap: Slot = { kind: 'zeros', length: 1, path: 'gap' }
  const slots = payloads.flatMap((payload, i): Slot[] => [{ kind: 'payload', payload, path: `p${i}` }, gap])
  const layout: Layout = { files: [{ name: 'out', slots }] }
  await writeLayout(layout, async () => sink)
  return new TextDecoder().decode(sink.bytes).replaceAll('\0', '|')
}

describe('payloads that other threads make', () => {
  it('are begun one before their turn, and arrive in order', async () => {
    const log: string[] = []
    const made = ['a', 'b', 'c'].map((name) => payloadOf(name, [`${name}1`, `${name}2`], log))
    expect(await write(made)).toBe('a1a2|b1b2|c1c2|')
    expect(log).toEqual(['a begins', 'b begins', 'a ends', 'c begins', 'b ends', 'c ends'])
  })

  it('may occur twice in a file', async () => {
    const log: string[] = []
    const twice = payloadOf('a', ['x', 'y'], log)
    expect(await write([twice, twice, twice])).toBe('xy|xy|xy|')
    expect(log.filter((line) => line === 'a begins')).toHaveLength(3)
    expect(log.filter((line) => line === 'a ends')).toHaveLength(3)
  })

  it('wait for their turn when they are long, and others always do', async () => {
    const log: string[] = []
    const here = payloadOf('b', ['b'], log, { isMadeElsewhere: false })
    expect(await write([payloadOf('a', ['a'], log), here, payloadOf('c', ['c'], log)])).toBe('a|b|c|')
    expect(log).toEqual(['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends'])
    const long = payloadOf('long', ['l'], log, { byteLength: 2 ** 40 })
    await expect(write([payloadOf('a', ['a'], log), long])).rejects.toMatchObject({ code: 'write/layout-mismatch' })
    expect(log.slice(6)).toEqual(['a begins', 'a ends', 'long begins', 'long ends'])
  })

  it('are ended when an earlier one fails, and fail in their own turn', async () => {
    const log: string[] = []
    const wrong = payloadOf('a', ['a'], log, { byteLength: 5 })
    await expect(write([wrong, payloadOf('b', ['b1', 'b2'], log)])).rejects.toMatchObject({
      code: 'write/layout-mismatch',
      finding: { path: 'p0' },
    })
    expect(log).toEqual(['a begins', 'b begins', 'a ends', 'b ends'])
    const failing = payloadOf('c', [], log, {
      byteLength: 1,
      // biome-ignore lint/correctness/useYield: it fails before
      async *chunks() {
        throw new Error('c cannot be made')
      },
    })
    const sink = new MemorySink('out')
    await expect(write([payloadOf('a', ['a'], log), failing], sink)).rejects.toThrow('c cannot be made')
  })
})
