import { defineCodes, error, warning } from '../../errors/index.js'

/** What can be wrong with a pickle as such, whatever it describes. */
export const pickleCodes = defineCodes('pickle', {
  truncated: error('The pickle ends before its STOP. It was cut off.'),
  opcode: error('There is no such opcode.'),
  protocol: warning('The pickle states a protocol beyond 5, which Python refuses. Its opcodes are read as they are.'),
  stack: error('An opcode wants more values than there are, or values of another kind.'),
  memo: error('A memo entry is used that was never stored, or is numbered beyond reason.'),
  length: error('A string, frame or number is longer than the rest of the pickle or than anything useful.'),
  objects: error('The pickle makes more objects than a file of its size has any use for.'),
  text: error('A text is not in the encoding that its opcode prescribes.'),
  extension: error('The pickle uses a registered extension code, which only the program that made it understands.'),
  buffer: error('The pickle refers to buffers outside itself, which are not there.'),
})
