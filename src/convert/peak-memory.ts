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
  const steps = stepsOf(planned.actions)
  const threads = threadMemory(planned, steps)
  // Where threads make the tensors, the next is begun before the last one is written.
  const streams = largestStream(planned, steps) * (threads > 0 ? 2 : 1)
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
function threadMemory({ source, items, layout, pool }: Planned, steps: Steps): number {
  if (!pool) return 0
  const isRecoded = (name: string): boolean => steps.get(name)?.some(({ action }) => recoding.has(action)) ?? false
  let recoded = 0
  let digested = 0
  if (steps.size > 0) {
    for (const { original, stored } of items) if (isRecoded(original.name)) recoded += stored?.data?.byteLength ?? 0
    for (const { name, data } of source.tensors) if (isRecoded(name)) recoded += data?.byteLength ?? 0
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

type Step = Pick<PlanAction, 'action' | 'requested'>

/** What is done to the tensors that are not just copied, by their names. */
type Steps = ReadonlyMap<string, readonly Step[]>

/** A million tensors go through few different steps: those that go through the same ones share a list. */
function stepsOf(actions: readonly PlanAction[]): Steps {
  const steps = new Map<string, readonly Step[]>()
  const lists = new Map<readonly Step[], Map<string, readonly Step[]>>()
  const none: readonly Step[] = []
  for (const { subject, name, action, requested } of actions) {
    if (subject !== 'tensor' || action === 'copy') continue
    const before = steps.get(name) ?? none
    const longer = lists.get(before) ?? new Map<string, readonly Step[]>()
    lists.set(before, longer)
    const key = `${action} ${requested}`
    const list = longer.get(key) ?? [...before, { action, ...(requested && { requested }) }]
    longer.set(key, list)
    steps.set(name, list)
  }
  return steps
}

/** Tensors are written one after the other, so the one that needs most decides. */
function largestStream({ source, items }: Planned, steps: Steps): number {
  if (steps.size === 0) return 0
  const inputOf = tensorFinder(source)
  let largest = 0
  for (const [i, { original, stored }] of items.entries()) {
    const data = stored?.data
    const input = inputOf(original.name, i) ?? data
    const list = steps.get(original.name)
    if (!input || !data || !list) continue
    largest = Math.max(
      largest,
      list.reduce((sum, step) => sum + streamMemory(step, input, data), 0),
    )
  }
  return largest
}

/** Tensors by name; mostly one is found where it is expected. */
function tensorFinder({ tensors }: Model): (name: string, expected: number) => Payload | null | undefined {
  let byName: Map<string, Payload | null> | undefined
  return (name, expected) => {
    const there = tensors.at(expected)
    if (there?.name === name) return there.data
    byName ??= new Map(tensors.map((tensor) => [tensor.name, tensor.data]))
    return byName.get(name)
  }
}

/** What one step between a payload of the input and one of the output holds. */
function streamMemory({ action, requested }: Step, input: Payload, output: Payload): number {
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
