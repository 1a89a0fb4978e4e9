export { findDamage, refuseDamage } from './find-damage.js'
export * from './list.js'
export * from './open.js'
export * from './verified-reads.js'
