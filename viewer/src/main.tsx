import { render } from 'preact'
import './styles/tokens.css'
import './styles/base.css'
import './styles/shell.css'
import { listenForDrops } from './app/drop-layer.js'
import { handleKey } from './app/keys.js'
import { Shell } from './app/shell.js'
import { addShellKeys } from './app/shell-keys.js'
import { warmUpWhenOpen } from './app/warm-up.js'
import { openServedFiles } from './state/served-files.js'

addShellKeys()
window.addEventListener('keydown', handleKey)
listenForDrops()
warmUpWhenOpen()
render(<Shell />, document.getElementById('app')!)
void openServedFiles()
