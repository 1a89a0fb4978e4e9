// The words of the filter, at the place where they are typed.
import { useRef } from 'preact/hooks'

const words: readonly (readonly [string, string])[] = [
  ['attn', 'names with this in them; capitals count where there is one'],
  ['blk.*.ffn_*', 'names that match a pattern'],
  ['dtype:q4_k', 'element type, also as a pattern: dtype:q*'],
  ['shape:*,4096', 'dimensions; a star is any'],
  ['size>1M', 'bytes; K, M, G are powers of 1024'],
  ['values>=1000 rank=2', 'number of values and of dimensions'],
  ['nan>0 inf>0 zero>10', 'counts in the sample that the statistics read'],
  ['std<0.01 mean>0 min<-1 max>1', 'statistics'],
  ['-norm', 'a minus turns a word around'],
]

export function FilterHelp() {
  const dialog = useRef<HTMLDialogElement>(null)
  return (
    <>
      <button
        type="button"
        class="quiet"
        aria-label="The words of the filter"
        onClick={() => dialog.current?.showModal()}
      >
        ?
      </button>
      <dialog ref={dialog} class="help" aria-label="The words of the filter">
        <header>
          <h2>Filter</h2>
          <button type="button" class="quiet" onClick={() => dialog.current?.close()}>
            Close
          </button>
        </header>
        <p class="faint">Words are separated by spaces, and all must hold.</p>
        <dl class="wide">
          {words.map(([word, meaning]) => (
            <div key={word}>
              <dt>
                <code>{word}</code>
              </dt>
              <dd>{meaning}</dd>
            </div>
          ))}
        </dl>
      </dialog>
    </>
  )
}
