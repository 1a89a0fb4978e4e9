export { findPacking, isKnownPacking, type Packing, packingOf } from './find.js'
export { describePacking, membersOf, type PackedWeight, packedElements } from './scheme.js'
export { methodOf, packingSettings, settingsKeys } from './settings.js'
export { findWeight, unpackModel, unpackTensors, unpackWeight } from './unpack.js'
