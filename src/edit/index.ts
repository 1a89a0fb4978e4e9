export type { EditChange, Edits } from './apply-edits.js'
export { editCodes } from './codes.js'
export type { FilePatch, Patch } from './layout-patches.js'
export { type EditOptions, type PlannedEdit, planEdit } from './plan-edit.js'
