import { defineCodes, error } from '../errors/index.js'

export const jobCodes = defineCodes('job', {
  invalid: error('This is not a job file of tare, or something in it cannot be used.'),
  version: error('The job was planned by another version of tare. All of its parts must be made by the same one.'),
  layout: error('The plan made here differs from the one that the job was written for. Nothing was written.'),
  'input-changed': error('An input is no longer the one that the job was planned for. Plan the job again.'),
  incomplete: error('Parts of the output have not been made yet. `tare work` makes those that are missing.'),
  result: error('What a worker left about a part cannot be used. Remove it, and make the part again.'),
  gone: error('The place where the parts are collected is gone: the job was finished or discarded.'),
  secret: error('The address holds a password or a signature, which has no place in a job file.'),
  'too-large': error('A file of the output cannot be cut, and is too large for one part.'),
  queue: error('The queue cannot be used, or its workers gave up.'),
})
