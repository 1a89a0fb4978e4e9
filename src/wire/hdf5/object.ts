// Every group and every dataset has an object header: a list of messages, in one block or in several that continue each other.
import type { Cursor } from '../../bytes/index.js'
import { Cursor as Fields } from '../../bytes/index.js'
import { hdf5Codes as codes } from './codes.js'
import type { Hdf5File } from './file.js'

export const messageTypes = {
  dataspace: 0x01,
  linkInfo: 0x02,
  datatype: 0x03,
  link: 0x06,
  external: 0x07,
  layout: 0x08,
  filters: 0x0b,
  attribute: 0x0c,
  continuation: 0x10,
  symbolTable: 0x11,
  attributeInfo: 0x15,
} as const

type MessageName = keyof typeof messageTypes

const namesByType = new Map(Object.entries(messageTypes).map(([name, type]) => [type as number, name as MessageName]))

export interface Message {
  readonly name: MessageName
  /** The content is elsewhere, and this says where. */
  readonly isShared: boolean
  readonly data: Uint8Array
  /** In the file. */
  readonly offset: number
  readonly path: string
}

/** A header of an honest object is some hundred bytes long, with large attributes some hundred kilobytes. */
const maxHeader = 1 << 24
const maxMessages = 1 << 16

export class ObjectHeader {
  readonly address: number
  readonly offset: number
  readonly path: string
  readonly messages: readonly Message[]

  constructor(address: number, offset: number, path: string, messages: readonly Message[]) {
    this.address = address
    this.offset = offset
    this.path = path
    this.messages = messages
  }

  find(name: MessageName): Message | undefined {
    return this.messages.find((message) => message.name === name)
  }

  all(name: MessageName): Message[] {
    return this.messages.filter((message) => message.name === name)
  }
}

/** The content of a message as fields. Its bytes are in the byte map already. */
export const fieldsOf = (file: Hdf5File, { data, offset, path }: Message): Cursor =>
  new Fields(data, file.report, { base: offset, path: [path] })

export async function readObject(file: Hdf5File, address: number, path: string): Promise<ObjectHeader> {
  const start = await file.bytes(address, Math.min(5, Math.max(0, file.size - address)), path)
  const reader = new HeaderReader(file, path)
  if (String.fromCharCode(...start.subarray(0, 4)) === 'OHDR') await reader.readNew(address)
  else await reader.readOld(address)
  return new ObjectHeader(address, file.base + address, path, reader.messages)
}

interface Block {
  readonly address: number
  readonly length: number
}

class HeaderReader {
  readonly messages: Message[] = []
  readonly #file: Hdf5File
  readonly #path: string
  readonly #blocks: Block[] = []
  #size = 0
  #count = 0

  constructor(file: Hdf5File, path: string) {
    this.#file = file
    this.#path = path
  }

  async readOld(address: number): Promise<void> {
    const file = this.#file
    const prefix = await file.cursor(address, 16, this.#path)
    file.version(prefix, [1])
    prefix.raw(1, 'reserved')
    const stated = prefix.u16('message_count')
    prefix.u32('reference_count')
    const length = prefix.u32('header_size')
    prefix.raw(4, 'reserved')
    this.#blocks.push({ address: address + 16, length })
    for (let block = this.#next(); block; block = this.#next()) {
      const cursor = await this.#open(block)
      while (cursor.remaining >= 8 && this.#count < stated) {
        const type = cursor.u16(`messages[${this.#count}].type`)
        const size = cursor.u16(`messages[${this.#count}].size`)
        const flags = cursor.u8(`messages[${this.#count}].flags`)
        cursor.raw(3, `messages[${this.#count}].reserved`)
        this.#add(cursor, type, size, flags)
      }
      if (cursor.remaining > 0) cursor.raw(cursor.remaining, 'unused')
    }
  }

  async readNew(address: number): Promise<void> {
    const file = this.#file
    const flagsAt = await file.bytes(address, 6, this.#path)
    const flags = flagsAt[5]!
    const width = 2 ** (flags & 3)
    const head = 6 + (flags & 0x20 ? 16 : 0) + (flags & 0x10 ? 4 : 0) + width
    const prefix = await file.bytes(address, head, this.#path)
    const length = prefix.subarray(head - width).reduceRight((sum, byte) => sum * 256 + byte, 0)
    this.#spend(address, head + length + 4)
    const cursor = await file.cursor(address, head + length + 4, this.#path)
    file.signature(cursor, 'OHDR')
    file.version(cursor, [2])
    cursor.u8('flags')
    if (flags & 0x20) cursor.raw(16, 'times')
    if (flags & 0x10) cursor.raw(4, 'attribute_limits')
    cursor.raw(width, 'size', () => length)
    this.#addAll(cursor, flags)
    for (let block = this.#next(); block; block = this.#next()) {
      const more = await this.#open(block)
      file.signature(more, 'OCHK')
      this.#addAll(more, flags)
    }
  }

  #addAll(cursor: Cursor, headerFlags: number): void {
    const head = headerFlags & 4 ? 6 : 4
    while (cursor.remaining >= head + 4) {
      const type = cursor.u8(`messages[${this.#count}].type`)
      const size = cursor.u16(`messages[${this.#count}].size`)
      const flags = cursor.u8(`messages[${this.#count}].flags`)
      if (headerFlags & 4) cursor.u16(`messages[${this.#count}].order`)
      this.#add(cursor, type, size, flags)
    }
    if (cursor.remaining > 4) cursor.raw(cursor.remaining - 4, 'unused')
    this.#file.checksum(cursor)
  }

  #add(cursor: Cursor, type: number, size: number, flags: number): void {
    const path = `messages[${this.#count}]`
    const { offset } = cursor
    const name = namesByType.get(type)
    const data = cursor.raw(size, `${path}.${name ?? `type_${type}`}`)
    this.#count++
    if (!name) return
    const message = { name, isShared: (flags & 2) !== 0, data, offset, path: `${cursor.pathOf(path)}.${name}` }
    if (name === 'continuation') {
      const fields = fieldsOf(this.#file, message)
      const address = this.#file.neededAddress(fields, 'address')
      this.#blocks.push({ address, length: this.#file.length(fields, 'length') })
      return
    }
    if (this.messages.push(message) <= maxMessages) return
    this.#file.report.fail(codes.structure, { offset, path: cursor.pathOf(path), message: 'too many messages' })
  }

  #next(): Block | undefined {
    return this.#blocks.shift()
  }

  #open({ address, length }: Block): Promise<Cursor> {
    this.#spend(address, length)
    return this.#file.cursor(address, length, this.#path)
  }

  /** Blocks that lie on each other could go on for ever. */
  #spend(address: number, length: number): void {
    this.#size += length + 1
    if (this.#size <= maxHeader) return
    const details = { offset: this.#file.base + address, path: this.#path }
    this.#file.report.fail(codes.structure, { ...details, message: `its header has more than ${maxHeader} bytes` })
  }
}
