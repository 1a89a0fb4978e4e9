// Reads a file of any of the five types. There is no index, so the walk is the check: each record is read, its data is stepped over.
import type { ByteSource } from '../../bytes/index.js'
import { f32 } from '../../dtypes/index.js'
import { strictReport, TareError } from '../../errors/index.js'
import type { Model, ReadContext, Tensor } from '../../model/index.js'
import { FieldReader } from './fields.js'
import { type FileType, readHeader, titleOf } from './header.js'
import { readOptimizer } from './optimizer/read.js'
import { Place, readData, readRecord, readShape, readTensor, type StoredShape, sayBatch } from './read-parameters.js'
import { TensorCollector } from './tensors.js'

export async function read(source: ByteSource, context: ReadContext): Promise<Model> {
  const fields = new FieldReader(source, context)
  const type = await fields.record(() => readHeader(fields))
  const base = { format: 'primitiv', version: '0.1', variant: type, files: [source] }
  if (type === 'optimizer') {
    const { metadata, part } = await readOptimizer(fields)
    await checkEnd(fields, type)
    return { ...base, metadata, tensors: [], parts: [part] }
  }
  const { tensors, isCut } = await readTensors(fields, type)
  if (!isCut) {
    if (type === 'shape' || type === 'tensor')
      fields.say('no-reference', 10, `the reference can neither save nor load a ${titleOf(type)} file`, 'data_type')
    await checkEnd(fields, type)
  }
  return { ...base, metadata: new Map(), tensors, parts: [] }
}

interface ReadTensors {
  readonly tensors: readonly Tensor[]
  /** Whether the file breaks off, and these are what is whole. */
  readonly isCut?: boolean
}

async function readTensors(fields: FieldReader, type: FileType): Promise<ReadTensors> {
  if (type === 'shape') {
    const shape = await fields.record(() => readShape(fields))
    if (shape.batch > 1) sayBatch(fields, shape)
    return { tensors: shape.sound ? [declared(shape)] : [] }
  }
  const list = new TensorCollector(fields, type === 'model')
  const place = new Place(type === 'model')
  fields.scope = () => place.path()
  let isCut = false
  try {
    if (type === 'tensor') await fields.record(() => list.value({ names: [] }, 0, readTensor(fields, 'other')))
    else await fields.records(() => readRecord(fields, list, place))
  } catch (error) {
    const { onLost, signal } = fields.context
    if (type === 'tensor' || !onLost || !(error instanceof TareError) || signal?.aborted) throw error
    sayLost(fields, place, error.finding.message)
    isCut = true
  }
  return { tensors: list.finish(), isCut }
}

/** A shape alone is a tensor that is declared without data. */
function declared({ dims, batch }: StoredShape): Tensor {
  const shape = batch === 1 ? dims : [...dims, batch]
  const extra = batch === 1 ? {} : { extra: { batch } }
  return { name: '', path: [], dtype: f32, shape, order: 'column', role: 'weight', data: null, ...extra }
}

/** When what is whole is to be saved, the records before the one that cannot be read are the model. */
function sayLost({ context, wanted }: FieldReader, place: Place, reason: string): void {
  const lose = (why: string, name?: string): void =>
    context.onLost!({ subject: 'tensor', name, length: name === undefined ? undefined : wanted, reason: why })
  lose(reason, place.tensorName())
  const stats = place.record === 'stat' ? place.statCount - place.statIndex - 1 : 0
  if (place.record === 'value') lose('its statistics, if it had any')
  else if (stats > 0) lose(`${stats} more of its statistics`)
  const behind = place.count - place.index - 1
  if (behind === 1) lose('one more parameter was announced behind it')
  else if (behind > 1) lose(`${behind} more parameters were announced behind it`)
}

/** The reference does not look at what follows. But a Shape that goes on as a whole Tensor or Parameter has the wrong type in its header. */
async function checkEnd(fields: FieldReader, type: FileType): Promise<void> {
  const { offset, remaining } = fields.msgpack
  const other = remaining > 0 ? await typeOfWhole(fields, type) : undefined
  if (other) {
    const message = `the header says ${titleOf(type)}, but the body is a whole ${titleOf(other)}`
    fields.say('data-type', 10, message, 'data_type')
  } else if (remaining > 0) fields.say('trailing-bytes', offset, `${remaining} bytes follow the data`, 'trailing_bytes')
  fields.commit()
}

/** The type that the body would have if it went on to the very end of the file. */
async function typeOfWhole({ source, context, msgpack }: FieldReader, type: FileType): Promise<FileType | undefined> {
  if (type !== 'shape' && type !== 'tensor') return undefined
  const silent = { ...context, extents: undefined, report: strictReport(source.name) }
  const rest = new FieldReader(source, silent, msgpack.offset)
  try {
    if (type === 'shape') {
      const shape = { dims: [], batch: 1, batchAt: 0, sound: false }
      await rest.record(() => readData(rest, shape, 'other'))
      if (rest.msgpack.remaining === 0) return 'tensor'
    }
    const place = new Place(false)
    place.record = 'stat_count'
    await rest.records(() => readRecord(rest, undefined, place))
    return rest.msgpack.remaining === 0 ? 'parameter' : undefined
  } catch (error) {
    if (error instanceof TareError && !context.signal?.aborted) return undefined
    throw error
  }
}
