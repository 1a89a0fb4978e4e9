import { defineCodes, error, warning } from '../errors/index.js'

export const remoteCodes = defineCodes('remote', {
  status: error('The server answered with an error status.'),
  unreachable: error('The server could not be reached, or the connection broke and could not be resumed.'),
  'no-ranges': warning('The server does not support ranges, so the whole file is downloaded.'),
  'too-large': error('The server does not support ranges, and the whole file exceeds the download limit.'),
  'too-slow': error('The server sends so slowly that the download would never finish.'),
  'range-mismatch': error('The server sent a different range than requested.'),
  'digest-mismatch': error('A downloaded file does not have the digest that the server states. It was thrown away.'),
  changed: error('The file changed on the server while it was read.'),
  'bad-answer': error('The server answered with something other than what was asked for.'),
  redirect: error('A redirect leads nowhere, in a circle, or from https to http.'),
  'private-address': error('An address that a remote file names is in a private network. It was not requested.'),
  'bad-address': error('The address cannot be opened.'),
})
