import { defineCodes, error } from '../errors/index.js'

export const poolCodes = defineCodes('pool', {
  'worker-died': error('A worker thread ended before its work was done, most likely because it ran out of memory.'),
  failed: error('A worker thread failed. That is a bug worth reporting; the file may be fine.'),
  closed: error('The worker pool was closed before its work was done.'),
})
