// A name from a file, as text.
import { visibleName } from './visible.js'

export { visible, visibleLines, visibleName } from './visible.js'

/** A name in the font of names; hovering shows all of it where it is cut. */
export function Name({ text, className = '' }: { readonly text: string; readonly className?: string }) {
  const shown = visibleName(text)
  return (
    <span class={`name ${className}`} title={shown}>
      {shown}
    </span>
  )
}

/** Where a line is too short for all of it, it ends after a dot, not within a word. */
const broken = (shown: string) =>
  shown.split(/(?<=[./])/).flatMap((part, i) => (i === 0 ? part : [<wbr key={i} />, part]))

export function BrokenName({ text }: { readonly text: string }) {
  const shown = visibleName(text)
  return (
    <span class="name" title={shown}>
      {broken(shown)}
    </span>
  )
}

/** Cut at its beginning where there is no room: names of a model begin alike, and differ in their layer and their end. */
export function LongName({ text }: { readonly text: string }) {
  const shown = visibleName(text)
  const end = /[^./]*[./]?[^./]*$/.exec(shown)![0]
  const start = shown.slice(0, shown.length - end.length)
  return (
    <span class="name long" title={shown}>
      {start !== '' && (
        <span class="start">
          <bdi>{broken(start)}</bdi>
        </span>
      )}
      <span class="end">{broken(end)}</span>
    </span>
  )
}
