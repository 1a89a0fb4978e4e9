export { findPacking, type Packing } from './find.js'
export { describePacking, type PackedWeight, packedElements } from './scheme.js'
export { methodOf, packingSettings, settingsKeys } from './settings.js'
export { packingOf, unpackModel, unpackTensors, unpackWeight } from './unpack.js'
