// Reads a file of any of the five types. There is no index, so the walk is the check: each record is read, its data is stepped over.
import type { ByteSource } from '../../bytes/index.js'
import { f32 } from '../../dtypes/index.js'
import { strictReport, TareError } from '../../errors/index.js'
import type { Model, ReadContext, Tensor } from '../../model/index.js'
import { MsgpackReader } from '../../wire/msgpack/index.js'
import { FieldReader } from './fields.js'
import { type FileType, readHeader, titleOf } from './header.js'
import { OptimizerWalk } from './read-optimizer.js'
import { ParameterWalk, readData, readShape, readTensor, type StoredShape, sayBatch } from './read-parameters.js'
import { TensorCollector } from './tensors.js'
import { Windows } from './windows.js'

export async function read(source: ByteSource, context: ReadContext): Promise<Model> {
  const walk = new FileWalk(source, context, 0)
  try {
    return await readFile(walk)
  } finally {
    await walk.close()
  }
}

/** A file being walked: where it is, and how to go on. */
class FileWalk {
  readonly source: ByteSource
  readonly context: ReadContext
  readonly fields: FieldReader
  readonly #windows: Windows

  constructor(source: ByteSource, context: ReadContext, offset: number) {
    const reader = new MsgpackReader(new Uint8Array(0), context.report, { base: offset, end: source.size })
    this.source = source
    this.context = context
    this.fields = new FieldReader(reader, context, source.name)
    this.#windows = new Windows(source, reader, context)
    this.fields.onSkip = (at, length, place) => this.#windows.stepOver(at, length, place)
  }

  /** Repeats a step that reads one record until it returns false. */
  async walk(step: () => boolean): Promise<void> {
    try {
      await this.#windows.run(step, () => this.fields.discard())
    } catch (error) {
      this.fields.commit() // what was noticed before belongs before it
      throw error
    }
  }

  /** Reads one record. */
  async once<T>(record: () => T): Promise<T> {
    let result: { readonly value: T } | undefined
    await this.walk(() => {
      result = { value: record() }
      this.fields.commit()
      return false
    })
    return result!.value
  }

  get offset(): number {
    return this.fields.msgpack.offset
  }

  get remaining(): number {
    return this.fields.msgpack.remaining
  }

  close(): Promise<void> {
    return this.#windows.close()
  }
}

async function readFile(walk: FileWalk): Promise<Model> {
  const { source, fields } = walk
  const type = await walk.once(() => readHeader(fields))
  const start = walk.offset
  const base = { format: 'primitiv', version: '0.1', variant: type, parts: [], files: [source] }
  if (type === 'optimizer') {
    const optimizer = new OptimizerWalk(fields)
    await walk.walk(() => optimizer.step())
    optimizer.checkClass(start)
    fields.commit()
    await checkEnd(walk, type)
    return { ...base, metadata: optimizer.metadata, tensors: [], parts: [optimizer.part()] }
  }
  let isCut = false
  const tensors = await readTensors(walk, type, () => {
    isCut = true
  })
  if (isCut) return { ...base, metadata: new Map(), tensors }
  if (type === 'shape' || type === 'tensor') {
    fields.say('no-reference', 10, `the reference can neither save nor load a ${titleOf(type)} file`, 'data_type')
    fields.commit()
  }
  await checkEnd(walk, type)
  return { ...base, metadata: new Map(), tensors }
}

async function readTensors(walk: FileWalk, type: FileType, onCut: () => void): Promise<readonly Tensor[]> {
  const { source, fields } = walk
  if (type === 'shape') {
    const shape = await walk.once(() => {
      const shape = readShape(fields)
      if (shape.batch > 1) sayBatch(fields, shape)
      return shape
    })
    return shape.sound ? [shapeOnly(shape)] : []
  }
  const list = new TensorCollector(source, fields, type === 'model')
  if (type === 'tensor') list.value({ names: [] }, 0, await walk.once(() => readTensor(fields, 'other')))
  else {
    const records = new ParameterWalk(fields, type === 'model', list)
    try {
      await walk.walk(() => records.step())
    } catch (error) {
      sayLost(walk, records, error)
      onCut()
    }
  }
  return list.finish()
}

/** When what is whole is to be saved, the records before the one that cannot be read are the model. */
function sayLost({ context, fields }: FileWalk, records: ParameterWalk, error: unknown): void {
  const { onLost, signal } = context
  if (!onLost || !(error instanceof TareError) || signal?.aborted) throw error
  const { name, stats, behind } = records.unread()
  const reason = error.finding.message
  onLost({ subject: 'tensor', name, length: name === undefined ? undefined : fields.wanted, reason })
  if (stats === undefined) onLost({ subject: 'tensor', reason: 'its statistics, if it had any' })
  else if (stats > 0) onLost({ subject: 'tensor', reason: `${stats} more of its statistics` })
  if (behind === 0) return
  const what = behind === 1 ? 'one more parameter was' : `${behind} more parameters were`
  onLost({ subject: 'tensor', reason: `${what} announced behind it` })
}

/** A shape alone is a tensor that is declared without data. */
function shapeOnly({ dims, batch }: StoredShape): Tensor {
  const shape = batch === 1 ? dims : [...dims, batch]
  const extra = batch === 1 ? {} : { extra: { batch } }
  return { name: '', path: [], dtype: f32, shape, order: 'column', role: 'weight', data: null, ...extra }
}

/** Nobody reads what follows. But a Shape that goes on as a whole Tensor or Parameter has the wrong type in its header. */
async function checkEnd(walk: FileWalk, type: FileType): Promise<void> {
  const { fields, offset, remaining } = walk
  if (remaining === 0) return
  const other = await typeOfWhole(walk, type)
  fields.scope = () => ''
  if (other) {
    const message = `the header says ${titleOf(type)}, but the body is a whole ${titleOf(other)}`
    fields.say('data-type', 10, message, 'data_type')
  } else fields.say('trailing-bytes', offset, `${remaining} bytes follow the data`, 'trailing_bytes')
  fields.commit()
}

/** The type that the body would have if it went on to the very end of the file. */
async function typeOfWhole(walk: FileWalk, type: FileType): Promise<FileType | undefined> {
  if (type !== 'shape' && type !== 'tensor') return undefined
  const { source, context } = walk
  const silent = { ...context, extents: undefined, report: strictReport(source.name) }
  const rest = new FileWalk(source, silent, walk.offset)
  try {
    if (type === 'shape') {
      const shape = { dims: [], batch: 1, batchAt: 0, sound: false }
      await rest.once(() => readData(rest.fields, shape, 'other'))
      if (rest.remaining === 0) return 'tensor'
    }
    const records = new ParameterWalk(rest.fields, false, { value() {}, stat() {} })
    records.skipValue()
    await rest.walk(() => records.step())
    return rest.remaining === 0 ? 'parameter' : undefined
  } catch (error) {
    if (error instanceof TareError && !context.signal?.aborted) return undefined
    throw error
  } finally {
    await rest.close()
  }
}
