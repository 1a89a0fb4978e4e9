export { findStowage, isStowageKey, type Stowage } from './document.js'
export { type Restored, restoreStowed } from './restore.js'
export { Stower } from './stower.js'
export { isAmbiguous } from './tensors.js'
