// A name from a file, as text.
import { visible } from './visible.js'

export { visible, visibleLines } from './visible.js'

/** A name in the font of names; hovering shows all of it where it is cut. */
export function Name({ text, className = '' }: { readonly text: string; readonly className?: string }) {
  const shown = visible(text)
  return (
    <span class={`name ${className}`} title={shown}>
      {shown}
    </span>
  )
}
