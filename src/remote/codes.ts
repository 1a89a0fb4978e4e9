import { defineCodes, error, warning } from '../errors/index.js'

export const remoteCodes = defineCodes('remote', {
  status: error('The server answered with a status that means no.'),
  unreachable: error('The server could not be reached, or the connection broke and could not be taken up again.'),
  'no-ranges': warning('The server cannot send parts of a file, so all of it is downloaded.'),
  'too-large': error('The server cannot send parts of the file, and the whole is over the limit for a download.'),
  'too-slow': error('The server sends so slowly that the file would never be there.'),
  'range-mismatch': error('The server sent another range than the one that was asked for.'),
  changed: error('The file changed on the server while it was read.'),
  redirect: error('A redirect leads nowhere, in a circle, or from https to http.'),
  'private-address': error('An address that a remote file names lies inside a private network. It was not asked.'),
  'bad-address': error('The address is not one that can be opened.'),
})
