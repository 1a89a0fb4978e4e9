// What the page does, the command does too: this shows the line to type, and copies it.
import { notify } from '../state/announce.js'
import { visible } from './text.js'

const plain = /^[\w./:@%+=,-]+$/

/** Quoted as a POSIX shell reads it. */
export const shellWord = (word: string): string =>
  plain.test(word) && word !== '' ? word : `'${word.replaceAll("'", "'\\''")}'`

export const commandLine = (words: readonly string[]): string => words.map(shellWord).join(' ')

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
      <code>{visible(line)}</code>
      <button type="button" class="quiet" onClick={() => void copyText(line, 'Command')}>
        Copy
      </button>
    </div>
  )
}
