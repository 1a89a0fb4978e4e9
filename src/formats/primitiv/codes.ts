import { defineCodes, error, note, warning } from '../../errors/index.js'

export const codes = defineCodes('primitiv', {
  version: error('The version is not 0.1, the only one that exists; the reference refuses any other.'),
  'data-type': error('The header names no known type, or the body is of a different type than the header says.'),
  'value-kind': error('The MessagePack value is of a different kind than the format has in this place.'),
  'number-form': error(
    'A number is stored in a different MessagePack form than the fixed one that the reference insists on. A lenient reader takes it; rewriting fixes it.',
  ),
  'number-form-taken': warning(
    'A number is stored in a different MessagePack form than the fixed one; it was read all the same. The reference refuses this file.',
  ),
  'number-range': error('A number does not fit the 32 bits that it has in this place.'),
  'shape-depth': error('A shape has more than 8 dimensions; trailing ones count as well.'),
  'shape-zero': error('A dimension or the batch is 0. The format has no empty tensors.'),
  'data-size': error('The data has a different number of bytes than the shape takes: 4 for each element.'),
  'value-batch': error('The value of a parameter has a batch other than 1; the reference refuses it.'),
  batch: warning('A shape has a batch above 1, which the document rules out. It is shown as the last dimension.'),
  count: error('More entries are announced than the rest of the file has room for.'),
  'empty-key': error('A parameter has a key without any name; no model can own it.'),
  'key-clash': error('One name is used for a parameter and for a submodel; no model can hold both.'),
  'duplicate-key': warning(
    'Two parameters have the same key. The last one counts; the others are shown under a changed name.',
  ),
  'duplicate-stat': warning(
    'A parameter has two statistics of the same name. The first one counts; the others are shown under a changed name.',
  ),
  'duplicate-config': warning('A setting occurs twice. The first one counts, the others are only kept for copies.'),
  'name-utf8': warning('A name is not UTF-8. Its bytes are kept; in texts the odd ones appear as \\xNN.'),
  'name-separator': note(
    'A name in a key holds a dot, so the joined name does not tell where one name ends and the next begins.',
  ),
  'name-ambiguous': warning('Two different keys give the same joined name; one is shown under a changed name.'),
  'trailing-bytes': warning('Bytes follow the data. The reference never looks at them.'),
  'no-reference': note('The document describes files of this type, but the reference can neither save nor load them.'),
  'config-map': warning('A setting stands in the map of the other type, where the reference does not look for it.'),
  'config-negative': warning('A setting is negative, although the reference refuses to set it below 0.'),
  'config-prerelease': warning(
    'Settings have the prefix that was used before the first release with this format; no release understands them.',
  ),
  'config-missing': note(
    'Settings of this optimizer are missing. Releases 0.3.0 and 0.3.1 refuse the file; 0.4.0 keeps the values it has.',
  ),
  'index-limit': error('A single name or key is larger than the limit for index data.'),
})

/** Of the JSON that stands for an Optimizer file. */
export const settingsCodes = defineCodes('optimizer-json', {
  size: error('The text is too long to be the settings of an optimizer.'),
  field: error('A member means nothing here, or has a different kind of value than it should.'),
  'duplicate-key': error('A setting occurs twice in one object.'),
  range: error('A number does not fit the 32 bits that it has in an Optimizer file.'),
  class: error('There is no optimizer of this name, and no setting begins with it.'),
  'class-differs': warning('The class that is named is not the one that the settings speak of.'),
  defaults: note('Settings of the class are missing from the text; the defaults of the reference stand in for them.'),
  'no-settings': error('The model has no settings of an optimizer, which is all that this JSON holds.'),
})
