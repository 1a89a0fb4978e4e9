// An NPY file is one array: magic, version, the length of the header, the header, the elements.
//
//   0x93 "NUMPY" | 1, 0 | u16 | {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), } | 24 bytes
//
// It has no name of its own; the file's name stands for it.
import { type ByteSource, fileNameOf } from '../../bytes/index.js'
import { type Finding, findingOf } from '../../errors/index.js'
import { type Model, type ReadContext, rangePayload, type Tensor } from '../../model/index.js'
import { npyHeaderCodes } from '../../wire/npy/codes.js'
import { readNpyHeader } from '../../wire/npy/parse.js'
import { arrayTensor, checkLength, dataLength, describeRecords, fieldTensors, recordArray } from './array.js'
import { extension } from './names.js'

export async function readFile(source: ByteSource, context: ReadContext): Promise<Model> {
  const { report, extents, signal, onLost } = context

  // Everything up to the elements: what they are, in which order, and how many.
  const header = await readNpyHeader(source, report, signal)

  // The elements, which should take the rest of the file.
  const name = nameOf(source.name)
  const length = dataLength(header)
  const missing = checkLength(header, source.size, report, { isFile: true })
  recordArray(extents, source.name, 0, header, Math.min(length, source.size - header.dataOffset))

  // One tensor, or where the elements are records, one for each of their fields.
  const tensors: Tensor[] = []
  const flaws: Finding[] = []
  if (missing !== undefined) onLost?.({ subject: 'tensor', name, length, reason: missing })
  else {
    const elements = rangePayload(source, header.dataOffset, length)
    if (!header.fields) tensors.push({ isNamedByFile: true, ...arrayTensor(name, header, elements, report) })
    else {
      for (const each of fieldTensors(header, elements, (field) => (field === '' ? name : field), report))
        tensors.push(each)
      flaws.push(findingOf(npyHeaderCodes.structured, describeRecords(header), source.name))
    }
  }
  const version = header.version.join('.')
  const model = { format: 'npy', version, metadata: new Map(), tensors, parts: [], files: [source] }
  return flaws.length > 0 ? { ...model, flaws } : model
}

/** The last part of a path or address, without the extension. */
function nameOf(file: string): string {
  const name = fileNameOf(file)
  return name.toLowerCase().endsWith(extension) ? name.slice(0, -extension.length) : name
}
