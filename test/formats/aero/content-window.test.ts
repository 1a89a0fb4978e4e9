import { describe, expect, it } from 'vitest'
import { MemorySource, releaseWindow, takeWindow } from '../../../src/bytes/index.js'
import type { Chunk } from '../../../src/formats/aero/control/chunk.js'
import { ContentWindow, defaultWindow } from '../../../src/formats/aero/index/content-window.js'

describe('a window over the content of a chunk', () => {
  it('grows with what does not fit, and leaves no more room behind than it usually takes', async () => {
    const length = 8 * defaultWindow
    const content = new Uint8Array(length).map((_, i) => i % 251)
    const window = ContentWindow.of({ offset: 0, length } as Chunk, new MemorySource(content))
    for (const size of [defaultWindow, 2 * defaultWindow, 4 * defaultWindow, length]) {
      await window.moveTo(0, undefined)
      expect(window.bytes.byteLength).toBe(size)
    }
    expect(window.isLast).toBe(true)
    const { buffer } = window.bytes
    await window.moveTo(length - 300, undefined)
    expect([...window.bytes]).toEqual([...content.subarray(length - 300)])
    window.close()
    const other = takeWindow(length)
    expect(other.buffer === buffer).toBe(false)
    releaseWindow(other)
  })
})
