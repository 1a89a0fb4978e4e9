// A reader of Python pickles that builds data and nothing else. A pickle is a program for a stack machine: opcodes push values, collect
// them into lists, tuples and dicts, name things to import (GLOBAL) and call them (REDUCE, NEWOBJ, INST, OBJ). This machine keeps names
// as names and calls as records of a call; what they mean is for the format to decide. There is no way from here to any code.
//
// Time and memory are linear in the length of the pickle: every opcode takes at least one byte and pushes at most one value, and the
// machine counts objects.
import type { Report } from '../../errors/index.js'
import { pickleCodes as codes } from './codes.js'
import { PickleCursor, type PickleOptions } from './cursor.js'
import { type PickleHooks, PickleMachine } from './machine.js'
import { Memo } from './memo.js'
import { opcodes } from './opcodes.js'
import type { PickleGlobal, PickleObject, PickleReference, PickleValue } from './values.js'

export * from './codes.js'
export type { PickleHooks } from './machine.js'
export * from './values.js'

export interface Pickle {
  readonly value: PickleValue
  /** The protocol that it states. */
  readonly protocol: number
  /** Bytes up to and with STOP; several pickles can follow each other. */
  readonly byteLength: number
  /** Everything that it names, in order, each once. */
  readonly globals: readonly PickleGlobal[]
  /** Everything that it would call, in order. */
  readonly calls: readonly PickleObject[]
  readonly references: readonly PickleReference[]
}

const stop = 0x2e

/** With hooks, `calls` and `references` are empty. */
export function readPickle(bytes: Uint8Array, report: Report, options: PickleOptions, hooks?: PickleHooks): Pickle {
  const cursor = new PickleCursor(bytes, report, options)
  const machine = new PickleMachine(cursor, new Memo(bytes), hooks)
  for (let opcode = cursor.opcode(); opcode !== stop; opcode = cursor.opcode()) {
    const run = opcodes[opcode] ?? cursor.fail(codes.opcode, `there is no opcode 0x${opcode.toString(16)}`)
    run(machine, cursor)
  }
  const { globals, calls, references, version: protocol } = machine
  return { value: machine.pop(), protocol, byteLength: cursor.position, globals, calls, references }
}
