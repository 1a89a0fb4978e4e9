// What the command itself needs of the library, whatever the verb. A file of its own, so that the bundle loads these few and not all of it.
export { abortUploads, openPool, secretsOf, speakOfFlags, unfinished } from '../kit-node.js'
