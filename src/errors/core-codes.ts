// Codes that do not belong to one format: input and output, opening, numbers and shared wire encodings.
import { defineCodes, error, note, warning } from './codes.js'

export const ioCodes = defineCodes('io', {
  'short-read': error('The source gave fewer bytes than it promised. The file was cut or changed while it was read.'),
  changed: error('The file changed while it was read. Nothing was written; run it again when the file is at rest.'),
  'out-of-range': error('A read goes beyond the end of the file.'),
  'not-found': error('The file does not exist.'),
  denied: error('The system does not allow reading or writing this file.'),
  failed: error('The system reported a read or write error.'),
  'not-a-file': error('The input is neither a file nor a directory that holds one model.'),
  'ambiguous-directory': error('The directory holds more than one model; name the one to open.'),
  'empty-directory': error('The directory holds no model that tare knows.'),
  exists: error('The output already exists and must not be replaced, or it is the input itself.'),
  'no-space': error('The disk is full. The old file is unchanged.'),
  'needs-seek': error('This output has checksums before the data and cannot be written to a pipe. Write to a file.'),
  'needs-folder': error('This output has several files and cannot be written to a pipe. Write to a file.'),
  'unsafe-path': error('A name inside the model leads out of its own directory. It was not followed.'),
  aborted: error('The work was cancelled. Nothing was written.'),
  busy: error('Another process is writing these files.'),
  interrupted: error('Replacing a set of files was interrupted and could not be completed since.'),
})

export const openCodes = defineCodes('open', {
  empty: error('The file has no bytes.'),
  'unknown-format': error('No format recognises these bytes. If you know the format, name it.'),
  'foreign-format': error('This is a file of a format that tare does not read; the message says which.'),
  'git-lfs-pointer': error('This is a Git LFS pointer, not the file it stands for. Run `git lfs pull`.'),
  html: error('This is an HTML page, most likely an error page saved in place of the model. Download it again.'),
  'several-forms': warning(
    'The directory holds the same model in several forms. One of them was opened; name another to open that.',
  ),
  'file-left-out': warning('A file that belongs to the model cannot be read, so the model is opened without it.'),
  'unknown-format-id': error('There is no format with this name.'),
})

export const numberCodes = defineCodes('number', {
  'too-large': error('A number is larger than 2^53-1, which no file here can hold.'),
  truncated: error('The data ends in the middle of a field.'),
})

export const jsonCodes = defineCodes('json', {
  syntax: error('The text is not valid JSON.'),
  utf8: error('The text is not valid UTF-8.'),
  depth: error('The JSON is nested deeper than in any real file.'),
  'duplicate-key': error('The same key occurs twice in one object; readers disagree on which one counts.'),
  'lone-surrogate': error('A string holds half of a surrogate pair, which no UTF-8 text can.'),
})

export const verifyCodes = defineCodes('verify', {
  'no-checksums': note(
    'The format stores no checksums: the structure was checked, damage inside the weights cannot be detected.',
  ),
  'not-checked': warning('A check could not be performed; the message says which and why.'),
  'bool-value': warning('A boolean is neither 0 nor 1.'),
  'name-control': warning('A name holds control, bidirectional or zero-width characters, which can deceive a reader.'),
  damaged: error('The file does not match its checksums. Repairing saves what is intact; damage can be allowed.'),
  internal: error('tare itself failed on this file. That is a bug worth reporting; the file may be fine.'),
})

export const writeCodes = defineCodes('write', {
  'dtype-unsupported': error('The target format has no such element type. Cast, or choose another format.'),
  'name-unsupported': error('The target format cannot hold this name.'),
  'value-range': error('A value does not fit the type it is to be stored as.'),
  'layout-mismatch': error('A payload produced a different number of bytes than it declared.'),
  'range-missing': error('A range of the output has not been made, so a digest that covers it is not known.'),
  'size-mismatch': error('The number of bytes of a tensor does not match its shape and element type.'),
  'not-readable': error('The written output cannot be opened again, so it was removed. That is a bug worth reporting.'),
  'loss-refused': error('The conversion would lose something and that was not allowed.'),
  'nothing-to-quantize': error('No tensor would be quantized. The message says why; nothing was written.'),
  'nothing-to-repair': error('Nothing in this file can be repaired.'),
  'not-repaired': error('The rebuilt file does not pass its own checks. Nothing was written.'),
  'not-writable': error('tare can read this format but not write it.'),
  'duplicate-name': error('Two tensors would have the same name in the output.'),
})

export const usageCodes = defineCodes('usage', {
  option: error('An option has a value that cannot be used.'),
  'no-such-tensor': error('The model has no tensor with this name.'),
  'too-large': error('A tensor has more bytes than one array holds. Read it in slices.'),
  'no-codec': error('The values of this element type cannot be decoded.'),
})
