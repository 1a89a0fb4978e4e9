// What each opcode does. The names are those of Python's pickle module.
import { pickleCodes as codes } from './codes.js'
import { latin1, type PickleCursor } from './cursor.js'
import type { PickleMachine } from './machine.js'
import { unescapeBytes, unescapeUnicode } from './text.js'
import { PickleDict, type PickleGlobal, PickleList } from './values.js'

export type Opcode = (machine: PickleMachine, cursor: PickleCursor) => void

const text = (line: Uint8Array): string => latin1(line)

/** `I01` and `I00` are how the oldest protocol spells True and False. */
function oldInteger(machine: PickleMachine, cursor: PickleCursor): void {
  const line = text(cursor.line())
  if (line === '01' || line === '00') machine.push(line === '01')
  else machine.push(cursor.decimal(line))
}

function oldFloat(machine: PickleMachine, cursor: PickleCursor): void {
  const line = text(cursor.line()).trim()
  const special: Readonly<Record<string, number>> = {
    nan: Number.NaN,
    inf: Infinity,
    '+inf': Infinity,
    '-inf': -Infinity,
  }
  const value = Object.hasOwn(special, line.toLowerCase()) ? special[line.toLowerCase()]! : Number(line)
  if (line === '' || (Number.isNaN(value) && line.toLowerCase() !== 'nan'))
    cursor.fail(codes.text, `${JSON.stringify(line.slice(0, 40))} is not a float`)
  machine.push(value)
}

function named(machine: PickleMachine, cursor: PickleCursor): PickleGlobal {
  const [module, name] = [cursor.line(), cursor.line()].map((line) => cursor.oldString(line))
  return machine.global(module!, name!)
}

const extension: Opcode = (_, cursor) => cursor.fail(codes.extension, 'an extension code stands for a name')
const buffer: Opcode = (_, cursor) => cursor.fail(codes.buffer, 'a buffer outside the pickle is needed')

/** A tuple never changes, so one is enough. */
const emptyTuple = new PickleList('tuple', [])
/** Nearly all integers of a checkpoint are dimensions of one byte; one object for each of them saves making it a million times. */
const bytesAsIntegers = Array.from({ length: 256 }, (_, byte) => BigInt(byte))

/** By byte; STOP is not among them. */
export const opcodes: Readonly<Record<number, Opcode>> = {
  40: (m) => m.mark(), // MARK
  41: (m) => m.push(emptyTuple), // EMPTY_TUPLE
  48: (m) => m.discard(), // POP
  49: (m) => void m.popMark(), // POP_MARK
  50: (m) => m.duplicate(), // DUP
  66: (m, c) => m.push(c.take(c.u32())), // BINBYTES
  67: (m, c) => m.push(c.take(c.u8())), // SHORT_BINBYTES
  70: oldFloat, // FLOAT
  71: (m, c) => m.push(c.f64()), // BINFLOAT
  73: oldInteger, // INT
  74: (m, c) => m.push(BigInt(c.i32())), // BININT
  75: (m, c) => m.push(bytesAsIntegers[c.u8()]!), // BININT1
  76: (m, c) => m.push(c.decimal(text(c.line()).replace(/L\s*$/, ''))), // LONG
  77: (m, c) => m.push(BigInt(c.u16())), // BININT2
  78: (m) => m.push(null), // NONE
  80: (m, c) => m.reference(text(c.line())), // PERSID
  81: (m) => m.reference(m.pop()), // BINPERSID
  82: reduce, // REDUCE
  83: (m, c) => m.push(c.oldString(unescapeBytes(c.line()) ?? c.fail(codes.text, 'a string is not quoted'))), // STRING
  84: (m, c) => m.push(c.oldString(c.take(c.u32()))), // BINSTRING
  85: (m, c) => m.push(c.oldString(c.take(c.u8()))), // SHORT_BINSTRING
  86: (m, c) => m.push(unescapeUnicode(text(c.line()))), // UNICODE
  88: (m, c) => m.push(c.utf8(c.u32())), // BINUNICODE
  93: (m) => m.push(new PickleList('list', [])), // EMPTY_LIST
  97: appendOne, // APPEND
  98: (m) => m.build(), // BUILD
  99: (m, c) => m.push(named(m, c)), // GLOBAL
  100: makeDict, // DICT
  101: (m) => m.append(m.popMark()), // APPENDS
  103: (m, c) => m.get(Number(c.decimal(text(c.line())))), // GET
  104: (m, c) => m.get(c.u8()), // BINGET
  105: (m, c) => m.call(named(m, c), new PickleList('tuple', m.popMark())), // INST
  106: (m, c) => m.get(c.u32()), // LONG_BINGET
  108: (m) => m.push(new PickleList('list', m.popMark())), // LIST
  111: makeObject, // OBJ
  112: (m, c) => m.put(Number(c.decimal(text(c.line())))), // PUT
  113: (m, c) => m.put(c.u8()), // BINPUT
  114: (m, c) => m.put(c.u32()), // LONG_BINPUT
  115: assignOne, // SETITEM
  116: (m) => m.push(new PickleList('tuple', m.popMark())), // TUPLE
  117: (m) => m.assign(m.popMark()), // SETITEMS
  125: (m) => m.push(new PickleDict()), // EMPTY_DICT
  128: (m, c) => m.protocol(c.u8()), // PROTO
  129: reduce, // NEWOBJ
  130: extension, // EXT1
  131: extension, // EXT2
  132: extension, // EXT4
  133: (m) => m.tuple(1), // TUPLE1
  134: (m) => m.tuple(2), // TUPLE2
  135: (m) => m.tuple(3), // TUPLE3
  136: (m) => m.push(true), // NEWTRUE
  137: (m) => m.push(false), // NEWFALSE
  138: (m, c) => m.push(c.integer(c.u8())), // LONG1
  139: (m, c) => m.push(c.integer(c.u32())), // LONG4
  140: (m, c) => m.push(c.utf8(c.u8())), // SHORT_BINUNICODE
  141: (m, c) => m.push(c.utf8(c.length64())), // BINUNICODE8
  142: (m, c) => m.push(c.take(c.length64())), // BINBYTES8
  143: (m) => m.push(new PickleList('set', [])), // EMPTY_SET
  144: (m) => m.append(m.popMark()), // ADDITEMS
  145: (m) => m.push(new PickleList('set', m.popMark())), // FROZENSET
  146: makeWithKeywords, // NEWOBJ_EX
  147: (m) => m.stackGlobal(), // STACK_GLOBAL
  148: (m) => m.memoize(), // MEMOIZE
  149: (_, c) => void c.length64(), // FRAME
  150: (m, c) => m.push(c.take(c.length64())), // BYTEARRAY8
  151: buffer, // NEXT_BUFFER
  152: buffer, // READONLY_BUFFER
}

function reduce(machine: PickleMachine): void {
  const args = machine.pop()
  machine.call(machine.pop(), args)
}

function appendOne(machine: PickleMachine): void {
  const item = machine.pop()
  machine.append([item])
}

function assignOne(machine: PickleMachine): void {
  const value = machine.pop()
  const key = machine.pop()
  machine.assign([key, value])
}

function makeDict(machine: PickleMachine): void {
  const items = machine.popMark()
  machine.push(new PickleDict())
  machine.assign(items)
}

/** The class and its arguments lie above the MARK. */
function makeObject(machine: PickleMachine, cursor: PickleCursor): void {
  const [callee, ...args] = machine.popMark()
  if (callee === undefined) cursor.fail(codes.stack, 'there is no class above the MARK')
  machine.call(callee, new PickleList('tuple', args))
}

function makeWithKeywords(machine: PickleMachine): void {
  const keywords = machine.pop()
  const args = machine.pop()
  machine.call(machine.pop(), new PickleList('tuple', [args, keywords]))
}
