// Fields at a place of a file that is read in windows.
import { Cursor, type CursorOptions, type WindowReader } from '../../bytes/index.js'
import type { Report } from '../../errors/index.js'

/** The next `length` bytes, or those that are left; the cursor reports what is missing. */
export async function cursorAt(
  window: WindowReader,
  offset: number,
  length: number,
  report: Report,
  options: Omit<CursorOptions, 'base'> = {},
): Promise<Cursor> {
  const count = Math.min(length, window.end - offset)
  await window.reach(offset, count)
  return new Cursor(window.slice(offset, count), report, { ...options, base: offset })
}
