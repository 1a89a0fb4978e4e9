// What is done with files of this format. Loaded when there is one: a command that opens a file needs one format, not ten.
export { check } from './check.js'
export { editInPlace } from './edit-in-place.js'
export { layout } from './layout.js'
export { read } from './read-model.js'
