export * from './list.js'
export * from './open.js'
export { type Cut, type CutModel, readCut, saysCut } from './read-cut.js'
export * from './verified-reads.js'
