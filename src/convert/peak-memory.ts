// How much memory a conversion takes at most, beyond the program itself: the indexes of both sides, which are there as long as it runs, and
// what the tensor that is being written needs at a time. Weights go by in windows, so their size hardly counts; what must be held together
// (a band of a matrix that is transposed, the scales of a matrix that is quantized) does. It is meant to be too much rather than too little.
import { defaultWindow } from '../bytes/index.js'
import { countSlots, type Layout, type Model, type Payload } from '../model/index.js'
import { indexSize } from '../model/model.js'
import { byteCosts } from '../threads/costs.js'
import type { WorkerPool } from '../threads/index.js'
import { decodeMemory } from '../transforms/decode-regions.js'
import { quantizeMemory } from '../transforms/quantize/blocks.js'
import { reorderMemory } from '../transforms/reorder.js'
import type { ActionKind, PlanAction } from './actions.js'
import type { Item } from './stages/state.js'

export interface Planned {
  readonly source: Model
  readonly items: readonly Pick<Item, 'original' | 'stored'>[]
  readonly actions: readonly PlanAction[]
  readonly layout: Layout
  readonly pool?: WorkerPool | undefined
}

/** Windows of source and sink, and what the engine lets lie before it collects it. */
const always = 24 * defaultWindow
/** A tensor in both models, and its actions. */
const perTensor = 1 << 10
/** What encoding its entry leaves behind, until the engine collects it. */
const garbagePerTensor = 4 << 10
const maxGarbage = 40 << 20
/** The input's index is in memory as bytes, as text and as what it says. */
const perIndexByte = 4
/** Headers are put together as text first. */
const perHeaderByte = 2
const perBytesSlot = 128
const perDigestSlot = 1 << 9
/** An engine and a program of its own, and the windows that it shares with the others. */
const perThread = 48 * defaultWindow

export function estimateMemory(planned: Planned): number {
  const { source, items, layout } = planned
  const count = Math.max(source.tensors.length, items.length)
  const garbage = Math.min(garbagePerTensor * count, maxGarbage)
  const indexes = garbage + perTensor * count + perIndexByte * indexSize(source, source.parts) + headerMemory(layout)
  const threads = threadMemory(planned)
  // Where threads make the tensors, the next is begun before the last one is written.
  const streams = largestStream(planned) * (threads > 0 ? 2 : 1)
  return always + indexes + streams + threads
}

function headerMemory({ files }: Layout): number {
  let memory = 0
  for (const { bytesSlots, headerBytes, digestSlots } of files.map(countSlots))
    memory += perBytesSlot * bytesSlots + perHeaderByte * headerBytes + perDigestSlot * digestSlots
  return memory
}

const recoding: ReadonlySet<ActionKind> = new Set(['cast', 'quantize', 'dequantize', 'map', 'restore'])

/** Threads are started when there is enough to compute. */
function threadMemory({ source, items, actions, layout, pool }: Planned): number {
  if (!pool) return 0
  const isRecoded = new Set<string>()
  for (const { subject, action, name } of actions) if (subject === 'tensor' && recoding.has(action)) isRecoded.add(name)
  let recoded = 0
  let digested = 0
  if (isRecoded.size > 0) {
    for (const { original, stored } of items) if (isRecoded.has(original.name)) recoded += stored?.data?.byteLength ?? 0
    for (const { name, data } of source.tensors) if (isRecoded.has(name)) recoded += data?.byteLength ?? 0
  }
  for (const { slots } of layout.files.filter((file) => countSlots(file).digestSlots > 0)) {
    for (const slot of slots) {
      // Checksums are so cheap that they are computed where the bytes are.
      if (slot.kind !== 'digest' || slot.algorithm === 'crc32') continue
      for (const [start, end] of slot.covers) digested += end - start
    }
  }
  const isStarted = byteCosts.maxWork * (recoded + digested) >= pool.startCost
  return isStarted ? (pool.threads + (digested > 0 ? 1 : 0)) * perThread : 0
}

/** Tensors are written one after the other, so the one that needs most decides. */
function largestStream({ source, items, actions }: Planned): number {
  const done = new Map<string, PlanAction[]>()
  for (const action of actions) {
    if (action.subject !== 'tensor' || action.action === 'copy') continue
    const list = done.get(action.name)
    if (list) list.push(action)
    else done.set(action.name, [action])
  }
  if (done.size === 0) return 0
  const originals = new Map(source.tensors.map((tensor) => [tensor.name, tensor.data]))
  let largest = 0
  for (const { original, stored } of items) {
    const { name } = original
    const data = stored?.data
    const input = originals.get(name) ?? data
    if (!input || !data) continue
    const needs = (done.get(name) ?? []).map((action) => streamMemory(action, input, data))
    largest = Math.max(
      largest,
      needs.reduce((sum, need) => sum + need, 0),
    )
  }
  return largest
}

/** What one step between a payload of the input and one of the output holds. */
function streamMemory({ action, requested }: PlanAction, input: Payload, output: Payload): number {
  const hasRandomAccess = input.read !== undefined
  switch (action) {
    case 'cast':
    case 'map':
    case 'restore':
      return 8 * defaultWindow
    case 'dequantize':
      return 16 * defaultWindow + decodeMemory(input.byteLength, hasRandomAccess)
    case 'quantize':
      return 8 * defaultWindow + quantizeMemory(output.byteLength)
    case 'transpose':
    case 'reorder':
      // When it was requested, only the dimensions are reversed.
      return requested ? 0 : reorderMemory(Math.max(input.byteLength, output.byteLength), hasRandomAccess)
    default:
      return 0
  }
}
