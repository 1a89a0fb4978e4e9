// What is done with files of this format. Loaded when there is one: a command that opens a file needs one format, not ten.
export { check } from './check.js'
export { layout } from './layout.js'
export { readFile as read } from './read.js'
export { repair } from './repair.js'
