// Where the tensors lie in the data.
import { alignUp, inOrder, type Range, type WindowReader, withReached } from '../../bytes/index.js'
import type { Code } from '../../errors/index.js'
import type { ReadContext } from '../../model/index.js'
import { codes } from './codes.js'
import type { Encoding } from './structs.js'

/** What the checks of a tensor need to know about its file. */
export interface TensorFile {
  readonly window: WindowReader
  readonly encoding: Encoding
  readonly context: ReadContext
  readonly alignment: number
  readonly indexEnd: number
  /** The next multiple of the alignment. */
  readonly dataStart: number
}

/** Where the data of a tensor lies, and which entry says so. */
export interface Place extends Range {
  readonly name: string
  readonly entry: number
}

/** In order of offset, each tensor must begin where the one before it is filled up to the alignment. Returns the padding. */
export function checkPlaces(places: readonly Place[], starts: readonly number[], file: TensorFile): Range[] {
  const { context, alignment, indexEnd, dataStart } = file
  const { source } = file.window
  // The bytes that no tensor is known to own may belong to one that was refused.
  const isComplete = places.length === starts.length
  const padding: Range[] = []
  const pad = (start: number, end: number, path: string): void => {
    if (end <= start || end > source.size) return
    padding.push({ start, end })
    context.extents?.add({ file: source.name, offset: start, length: end - start, path, kind: 'padding' })
  }
  pad(indexEnd, dataStart, 'header_padding')
  let end = dataStart
  for (const { range, reached, before } of withReached(inFileOrder(places, starts, file), dataStart)) {
    const { name, entry, start } = range
    const next = alignUp(reached, alignment)
    if (start < reached) {
      const message = `${JSON.stringify(name)} and ${JSON.stringify(before!.name)} share bytes`
      say(codes.overlap, entry, 'offset', start, message, file)
    } else pad(reached, next, 'padding')
    if (start > next && isComplete) {
      const message = `${start - next} bytes before ${JSON.stringify(name)} belong to no tensor`
      say(codes.gap, entry, 'offset', next, message, file)
    }
    context.extents?.add({
      file: source.name,
      offset: start,
      length: range.end - start,
      path: `data[${JSON.stringify(name)}]`,
      kind: 'data',
    })
    end = Math.max(reached, range.end)
  }
  if (!isComplete) return padding
  const padded = alignUp(end, alignment)
  pad(end, Math.min(padded, source.size), 'padding')
  if (source.size < padded) {
    const code = context.lenient ? codes['tail-padding-taken'] : codes['tail-padding']
    const message = `the file should go on to ${padded}, it ends at ${source.size}`
    context.report.report(code, { offset: source.size, path: 'padding', message })
  } else checkTrailing(padded, file)
  return padding
}

/** Places with bytes, by where they are; that should be the order of the list. */
function inFileOrder(places: readonly Place[], starts: readonly number[], file: TensorFile): readonly Place[] {
  const stray = places.find(({ start }, i) => i > 0 && start < places[i - 1]!.start)
  if (stray) {
    const message = `the data of ${JSON.stringify(stray.name)} lies before that of the tensor listed before it`
    say(codes.order, stray.entry, 'offset', starts[stray.entry]!, message, file)
  }
  const ordered = stray ? inOrder(places, 'shortest') : places
  return ordered.filter(({ start, end }) => end > start)
}

/** Without tensors there is nothing to align; some writers fill up the index all the same. */
export function checkRest(file: TensorFile): Range[] {
  const { window, indexEnd, dataStart } = file
  checkTrailing(dataStart, file)
  const end = Math.min(dataStart, window.source.size)
  return end > indexEnd ? [{ start: indexEnd, end }] : []
}

function checkTrailing(end: number, { window, context }: TensorFile): void {
  const length = window.source.size - end
  if (length <= 0) return
  const message = `${length} bytes after the last tensor belong to no tensor`
  context.report.report(codes['trailing-bytes'], { offset: end, length, path: 'data', message })
}

export function say(
  code: Code,
  i: number,
  field: string,
  offset: number,
  message: string,
  { context }: TensorFile,
  needs: { readonly needs?: number } = {},
): void {
  context.report.report(code, { offset, path: `tensors[${i}].${field}`, message, ...needs })
}
