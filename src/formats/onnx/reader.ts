// The protobuf reader with what the messages of ONNX have in common: texts, pairs of texts, dimensions. Names and other texts are the only content
// of a graph that is kept in memory, so together they have a limit.
import { type ByteSource, decodeLossy, decodeUtf8, shortAscii } from '../../bytes/index.js'
import type { Range } from '../../bytes/ranges.js'
import type { ReadContext } from '../../model/index.js'
import { ProtobufReader, protobufCodes } from '../../wire/protobuf/protobuf.js'
import { decodeVarints, maxVarint } from '../../wire/protobuf/varints.js'
import { ownCodes as codes } from './codes.js'
import { entryMessage } from './messages.js'

export interface Text {
  readonly value: string
  /** Set when the bytes are not UTF-8; `value` is then for showing only. */
  readonly bytes?: Uint8Array
}

export const noText: Text = { value: '' }

const maxDims = 255

export class OnnxReader extends ProtobufReader {
  readonly context: ReadContext
  #textLeft: number

  constructor(source: ByteSource, context: ReadContext) {
    const { report, extents, signal, limits } = context
    super(source, report, { signal, extents, depth: limits.depth })
    this.context = context
    this.#textLeft = limits.indexBytes
  }

  /** Where the content of the visited field lies. */
  get content(): Range {
    return { start: this.start, end: this.end }
  }

  /** The content of the visited field as a text. The result is the answer of a visit: the content is not noted yet. */
  text(path: string, use: (text: Text) => void): false | Promise<false> {
    const { start: offset, length } = this
    const { report, limits } = this.context
    this.#textLeft -= length
    if (this.#textLeft < 0) {
      const message = `all texts together have more than ${limits.indexBytes} bytes`
      report.fail(codes['text-length'], { offset, length, path, message })
    }
    return this.withPayload((bytes) => {
      const value = shortAscii(bytes, 0, bytes.byteLength) ?? decodeUtf8(bytes)
      if (value !== undefined) {
        use({ value })
        return
      }
      report.report(codes.utf8, { offset, length, path, message: 'the text is not UTF-8' })
      use({ value: decodeLossy(bytes), bytes: bytes.slice() })
    })
  }

  /** The content of the visited field as a pair of texts. */
  async entry(path: string): Promise<{ at: number; key: Text; value: Text }> {
    const entry = { at: this.at, key: noText, value: noText }
    await this.walk(this.content, path, entryMessage, () => {
      const name = this.field === 1 ? 'key' : 'value'
      return this.text(`${path}.${name}`, (text) => {
        entry[name] = text
      })
    })
    return entry
  }

  /** Dimensions, packed or one by one, of a tensor or a sparse tensor. */
  dims(dims: bigint[], path: string): false | Promise<false> {
    const { at: offset, length } = this
    const { report } = this.context
    const tooMany = (): never =>
      report.fail(codes.rank, { offset, path, message: `there are more than ${maxDims} dimensions` })
    if (this.wire === 0) {
      if (dims.push(this.int64) > maxDims) tooMany()
      return false
    }
    if (length > maxDims * maxVarint) tooMany()
    return this.withPayload((bytes) => {
      const values = decodeVarints(bytes)
      if (!values) {
        const message = 'the list does not end with the end of a value'
        return report.fail(protobufCodes.packed, { offset, path, message })
      }
      if (dims.length + values.length > maxDims) tooMany()
      dims.push(...values)
    })
  }
}
