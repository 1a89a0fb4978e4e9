// What can be done with the tensors that were picked: the command that does it, ready to copy.
import type { ScreenProps } from '../../app/screens.js'
import type { TableView } from '../../engine/rooms/tensors.js'
import { Command, copyText } from '../../parts/command.js'
import { countLabel, sizeLabel } from '../../parts/format.js'
import { commandLine, tensorCommand } from '../../parts/shell.js'
import { clearSelection, selection } from './selection.js'

/** These options take patterns. */
const pattern = (name: string): string => name.replaceAll('*', '?')

const commands: readonly (readonly [title: string, (file: string, names: readonly string[]) => readonly string[]])[] = [
  ['Statistics', (file, names) => ['tare', 'stats', file, ...names.flatMap((name) => ['--tensors', pattern(name)])]],
  [
    'Convert only these',
    (file, names) => [
      ...['tare', 'convert', file, ...names.flatMap((name) => ['--only', pattern(name)])],
      ...['-o', 'part.safetensors'],
    ],
  ],
  ['Extract', (file, names) => tensorCommand('extract', file, names[0] ?? '', ['--as', 'f32', '-o', 'tensor.npy'])],
]

export function SelectionBar({ model }: ScreenProps & { readonly view: TableView }) {
  const { model: owner, tensors } = selection.value
  if (owner !== model.id || tensors.size === 0)
    return (
      <footer class="list-command">
        <Command words={['tare', 'inspect', '--all', model.argument]} />
      </footer>
    )
  const picked = [...tensors.values()]
  const bytes = picked.reduce((sum, each) => sum + each.bytes, 0)
  const names = picked.map(({ name }) => name)
  return (
    <footer class="selection">
      <span>
        {countLabel(picked.length)} selected, {sizeLabel(bytes)}
      </span>
      <span class="faint">Copy the command:</span>
      {commands
        .filter(([title]) => title !== 'Extract' || picked.length === 1)
        .map(([title, wordsOf]) => (
          <button
            key={title}
            type="button"
            onClick={() => void copyText(commandLine(wordsOf(model.argument, names)), 'Command')}
          >
            {title}
          </button>
        ))}
      <button type="button" class="quiet" onClick={clearSelection}>
        Clear
      </button>
    </footer>
  )
}
