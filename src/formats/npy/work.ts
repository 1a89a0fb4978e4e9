// What is done with files of this format. Loaded when there is one: a command that opens a file needs one format, not ten.
export { layoutArchive, layoutFile } from './layout.js'
export { checkArchive, readArchive } from './npz-read.js'
export { readFile } from './read.js'
