import { defineCodes, error } from '../errors/index.js'

export const editCodes = defineCodes('edit', {
  'no-such-key': error('The model has no metadata entry with this key.'),
  'value-type': error('The text is not a valid value for the type of the entry.'),
  'several-files': error(
    'A model of several files cannot be edited this way. The message says where the output may be.',
  ),
  interrupted: error(
    'An edit of this file was interrupted, or is in progress. Editing it again puts the old bytes back.',
  ),
  busy: error('Another process is editing this file.'),
  journal: error('The journal of an interrupted edit does not belong to this file. Nothing was changed.'),
})
