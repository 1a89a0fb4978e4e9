// What the page does, the command does too: this shows the line to type, and copies it.
import { notify } from '../state/announce.js'
import { commandLine } from './shell.js'
import { visible } from './text.js'

export async function copyText(text: string, what: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text)
    notify(`${what} copied`)
  } catch {
    notify('the browser did not allow copying')
  }
}

export function Command({ words }: { readonly words: readonly string[] }) {
  const line = commandLine(words)
  return (
    <div class="command">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a long line scrolls, also by keys */}
      <code tabIndex={0}>{visible(line)}</code>
      <button type="button" class="quiet" onClick={() => void copyText(line, 'Command')}>
        Copy
      </button>
    </div>
  )
}
