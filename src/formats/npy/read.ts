// An NPY file is one array: a header that says type, order and shape, and the elements. It has no name; the file's name stands for it.
import type { ByteSource } from '../../bytes/index.js'
import { type Finding, findingOf } from '../../errors/index.js'
import { type Model, type ReadContext, rangePayload } from '../../model/index.js'
import { readNpyHeader } from '../../wire/npy/parse.js'
import { recordArray, tensorsOf } from './array.js'
import { extension } from './names.js'

export async function readFile(source: ByteSource, context: ReadContext): Promise<Model> {
  const { report, extents, signal } = context
  const header = await readNpyHeader(source, report, signal)
  const flaws: Finding[] = []
  const tensors = tensorsOf(header, {
    size: source.size,
    report,
    onLost: context.onLost,
    payload: (offset, length) => rangePayload(source, offset, length),
    isNamedByFile: true,
    onFlaw: (code, details) => flaws.push(findingOf(code, details, source.name)),
    nameOf: (field = '') => (field === '' ? nameOf(source.name) : field),
  })
  recordArray(extents, source.name, 0, source.size, header, tensors !== undefined)
  return {
    format: 'npy',
    version: header.version.join('.'),
    metadata: new Map(),
    tensors: tensors ?? [],
    parts: [],
    files: [source],
    ...(flaws.length > 0 && { flaws }),
  }
}

/** The last part of a path or address, without the extension. */
function nameOf(file: string): string {
  const path = /^[a-z][a-z0-9+.-]*:\/\//i.test(file) ? file.replace(/[?#].*$/s, '') : file
  const name = /[^/\\]*$/.exec(path)![0]
  return name.toLowerCase().endsWith(extension) ? name.slice(0, -extension.length) : name
}
