// The keys that work everywhere.
import { copyText } from '../parts/command.js'
import { notify } from '../state/announce.js'
import { address, go, goTo } from '../state/location.js'
import { currentModel, models } from '../state/models.js'
import { nextTheme } from '../state/theme.js'
import { showHelp } from './help.js'
import { addKeys } from './keys.js'
import { screens } from './screens.js'

const focusSearch = (): void => document.querySelector<HTMLInputElement>('main [type=search]')?.focus()

/** The first one that the screen shows. */
function copyCommand(): void {
  const button = document.querySelector<HTMLButtonElement>('main .command button')
  if (button) button.click()
  else notify('there is no command on this screen')
}

function showScreen(key: string): void {
  const screen = screens.find((each) => each.key === key)
  if (screen && currentModel.peek()) goTo(screen.id)
}

/** The next model that is still there. */
function showNextModel(): void {
  const there = models.peek().filter(({ status }) => status !== 'closed')
  const at = there.findIndex(({ id }) => id === address.peek().model)
  const next = there[(at + 1) % Math.max(1, there.length)]
  if (next) go({ model: next.id, screen: address.peek().screen, query: {} })
}

export function addShellKeys(): void {
  addKeys('Everywhere', [
    { keys: ['?'], title: 'Show all keys', run: showHelp },
    { keys: ['/'], title: 'Search', run: focusSearch },
    { keys: screens.map(({ key }) => key), shown: `1–${screens.length}`, title: 'Show a section', run: showScreen },
    { keys: ['m'], title: 'Show the next model', run: showNextModel },
    { keys: ['o'], title: 'Open another model', run: () => go({ screen: 'drop', query: {} }) },
    { keys: ['t'], title: 'Light, dark or as the system', run: nextTheme },
    { keys: ['y'], title: 'Copy a link to this view', run: () => void copyText(location.href, 'Link') },
    { keys: ['Y'], title: 'Copy the command', run: copyCommand },
  ])
}
