// Names and other texts. They are the only content of the graph that is kept in memory, so together they have a limit.
import { decodeLossy, decodeUtf8 } from '../../bytes/index.js'
import type { ReadContext } from '../../model/index.js'
import type { ProtobufReader } from '../../wire/protobuf/protobuf.js'
import { ownCodes as codes } from './codes.js'

export interface Text {
  readonly value: string
  /** Set when the bytes are not UTF-8; `value` is then for showing only. */
  readonly bytes?: Uint8Array
}

export const noText: Text = { value: '' }

export class Texts {
  readonly #context: ReadContext
  #left: number

  constructor(context: ReadContext) {
    this.#context = context
    this.#left = context.limits.indexBytes
  }

  /** The payload of the visited field as a text. What it gives is the answer of a visit: the content is not noted yet. */
  read(reader: ProtobufReader, path: string, use: (text: Text) => void): false | Promise<false> {
    const { start: offset, length } = reader
    const { report, limits } = this.#context
    this.#left -= length
    if (this.#left < 0) {
      const message = `all texts together have more than ${limits.indexBytes} bytes`
      report.fail(codes['text-length'], { offset, length, path, message })
    }
    return reader.withPayload((bytes) => {
      const value = decodeUtf8(bytes)
      if (value !== undefined) {
        use({ value })
        return
      }
      report.report(codes.utf8, { offset, length, path, message: 'the text is not UTF-8' })
      use({ value: decodeLossy(bytes), bytes: bytes.slice() })
    })
  }
}
