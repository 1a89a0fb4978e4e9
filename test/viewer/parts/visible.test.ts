import { expect, it } from 'vitest'
import { visible, visibleLines } from '../../../viewer/src/parts/visible.js'

it('shows what would hide or reorder others by its number', () => {
  expect(visible('a\u202eb\u0000c\u200d')).toBe('a\\u{202e}b\\u{0}c\\u{200d}')
  expect(visible('<script>ß 字 😀')).toBe('<script>ß 字 😀')
  expect(visibleLines('a\r\nb\tc')).toBe('a\nb\\u{9}c')
})
