// The files of a set, opened in order and some ahead of their turn: a server far away takes its time for each, and does not mind several
// requests at once.
import type { ByteSource } from '../bytes/index.js'

/** A file whose turn it is. */
export interface Opening {
  readonly name: string
  /** The file, or why it cannot be opened. The caller closes it. */
  readonly opened: Promise<ByteSource>
}

const maxAhead = 8

/** Files that were opened and whose turn did not come are closed. */
export async function* openAhead(
  names: Iterable<string>,
  open: (name: string) => Promise<ByteSource>,
): AsyncGenerator<Opening, void, void> {
  const waiting: Opening[] = []
  const rest = names[Symbol.iterator]()
  try {
    for (;;) {
      for (let next = waiting.length < maxAhead ? rest.next() : undefined; next && !next.done; ) {
        const opened = open(next.value)
        opened.catch(() => {}) // thrown when it is its turn
        waiting.push({ name: next.value, opened })
        next = waiting.length < maxAhead ? rest.next() : undefined
      }
      const first = waiting.shift()
      if (!first) return
      yield first
    }
  } finally {
    for (const { opened } of waiting)
      await opened.then(
        (source) => source.close(),
        () => {},
      )
  }
}
