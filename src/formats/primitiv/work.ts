// What is done with files of this format. Loaded when there is one: a command that opens a file needs one format, not ten.
export { layout } from './layout.js'
export { read } from './read.js'
export { readSettings } from './read-settings-json.js'
export { restorePart } from './restore-part.js'
export { layoutSettings } from './write-settings-json.js'
