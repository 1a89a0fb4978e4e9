import { defineCodes, error } from '../errors/index.js'

export const editCodes = defineCodes('edit', {
  'no-such-key': error('No metadata entry of the model has this key.'),
  'value-type': error('The entry has a type, and the text is no value of it.'),
  'several-files': error(
    'The model has several files, which cannot be edited so. The message says where the output may be.',
  ),
  interrupted: error(
    'An edit of this file did not come to its end, or is under way. `tare edit FILE` puts the old bytes back.',
  ),
  busy: error('Another process is editing this file.'),
  journal: error('What an interrupted edit left behind does not belong to this file. Nothing was changed.'),
})
