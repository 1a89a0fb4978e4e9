// Files that are read in two ways: with a byte map every field is read by itself, without one usual entries are taken as a whole.
import type { ExtentList } from '../../src/bytes/index.js'
import { collectingReport, type Finding, TareError } from '../../src/errors/index.js'
import { recognise } from '../../src/formats/open.js'
import { MemorySource, type Tensor } from '../../src/kit.js'

/** All findings, and the tensors in a form that can be compared; none where the file cannot be read. */
export async function readWith(format: string, file: Uint8Array, extents: ExtentList | undefined) {
  const findings: Finding[] = []
  const source = new MemorySource(file, `model.${format}`)
  const request = { from: format, report: collectingReport(source.name, findings), extents }
  try {
    const { model } = await (await recognise(source, request)).read()
    return { findings, tensors: model.tensors.map(plain) }
  } catch (error) {
    if (!(error instanceof TareError)) throw error
    return { findings, tensors: [] }
  }
}

const plain = ({ data, dtype, ...rest }: Tensor) => ({
  ...rest,
  dtype: dtype.id,
  range: data?.origin && [data.origin.offset, data.origin.length],
})
