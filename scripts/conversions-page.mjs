// docs/conversions.md: what becomes of every kind of content on the way from each format to each other one. Nothing in it is written by
// hand: small models are written, read again and planned into every target, and the plan is what the tables say.
import { fileURLToPath } from 'node:url'
import {
  bytesPayload,
  dtypeById,
  formats,
  listOf,
  MemorySink,
  MemorySource,
  openInput,
  openModel,
  parseVocabularyText,
  planConversion,
  runConversion,
  text,
} from '../dist/kit-node.js'

const tensor = (name, id, shape, more = {}) => {
  const dtype = dtypeById(id)
  const data = bytesPayload(new Uint8Array(dtype.byteLength(shape)).fill(1))
  return { name, dtype, shape, order: 'row', role: 'weight', data, ...more }
}
const weight = tensor('w', 'f32', [2, 4])
const model = (tensors, more = {}) => ({
  format: 'memory',
  metadata: new Map(),
  tensors,
  parts: [],
  files: [],
  ...more,
})
const entry = (value) => model([weight], { metadata: new Map([['k', value]]) })
const part = (each) => model([weight], { parts: [each] })
const encode = (value) => new TextEncoder().encode(value)
const file = {
  kind: 'file',
  sharing: 'shared',
  name: 'notes.txt',
  value: { bytes: 2 },
  data: bytesPayload(encode('hi')),
}
const sizes = { kind: 'size-variables', sharing: 'shared', value: { D: 4 }, content: new Map([['D', 4n]]) }

/** A kind of content: a model that has it, and the subject of the plan that tells what becomes of it. */
const kinds = [
  ['f32 weights', model([weight]), 'w'],
  ['half precision weights', model([tensor('w', 'bf16', [2, 4])]), 'w'],
  ['8-bit floats', model([tensor('w', 'f8_e4m3', [2, 4])]), 'w'],
  ['64-bit integers', model([tensor('w', 'i64', [2, 4])]), 'w'],
  ['4-bit integers', model([tensor('w', 'i4', [2, 4])]), 'w'],
  ['complex numbers', model([tensor('w', 'c64', [2, 4])]), 'w'],
  ['blocks of ggml (Q4_0)', model([tensor('w', 'ggml.q4_0', [2, 32])]), 'w'],
  ['blocks of MCF (k4)', model([tensor('w', 'mcf.k4', [1, 512])]), 'w'],
  ['a scalar', model([tensor('w', 'f32', [])]), 'w'],
  ['an empty tensor', model([tensor('w', 'f32', [0, 4]), tensor('v', 'f32', [2])]), 'w'],
  ['a tensor without data', model([{ ...weight, data: null }, tensor('v', 'f32', [2])]), 'w'],
  ['columns first', model([{ ...weight, order: 'column' }]), 'w'],
  ['a name of 80 bytes', model([tensor('n'.repeat(80), 'f32', [2])]), 'n'.repeat(80)],
  ['optimizer state', model([weight, tensor('w#m1', 'f32', [2, 4], { role: 'state', stat: 'm1' })]), 'w#m1'],
  [
    'scales beside a tensor',
    model([tensor('w', 'i8', [4], { quant: { scheme: 'symmetric', scales: [0.5] } })]),
    'quantization of w',
  ],
  ['text metadata', entry(text('v')), 'k'],
  ['integer metadata', entry({ type: 'u32', value: 7 }), 'k'],
  ['float metadata', entry({ type: 'f64', value: 0.1 }), 'k'],
  ['lists in metadata', entry(listOf('str', [text('a')])), 'k'],
  ['JSON in metadata', entry({ type: 'json', value: { a: 1 } }), 'k'],
  ['bytes in metadata', entry({ type: 'bytes', value: encode('x') }), 'k'],
  ['a vocabulary', part(parseVocabularyText(encode('[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\n')).part), 'vocabulary'],
  ['files (tokenizer, configuration)', part(file), 'notes.txt'],
  ['size variables', part(sizes), 'size-variables'],
]

const writable = formats.filter((format) => format.capabilities.write)

async function write(source, target, stow) {
  const conversion = await planConversion(source, target.id, {
    name: `m${target.extensions[0]}`,
    deterministic: true,
    stow,
  })
  const files = new Map()
  await runConversion(conversion, async (name) => new MemorySink(name, files), { allowLoss: 'content' })
  const main = conversion.layout.files[0].name
  return openModel(new MemorySource(files.get(main), main, files), { from: target.id })
}

/** The model as the format itself holds it; undefined when this kind of content does not get in as it is. */
async function native(source, format, subject) {
  const options = { name: `m${format.extensions[0]}`, deterministic: true, stow: false }
  const planned = await planConversion(source, format.id, options).catch(() => undefined)
  const isKept = planned?.plan.actions.every(
    ({ name, action }) => name !== subject || ['copy', 'map', 'reorder'].includes(action),
  )
  return isKept ? write(source, format, false).catch(() => undefined) : undefined
}

const words = {
  none: 'kept',
  copy: 'kept',
  cast: 'cast',
  dequantize: 'decoded',
  reorder: 'kept',
  stow: 'stowed',
  drop: 'dropped',
  map: 'mapped',
}
const gravity = ['drop', 'dequantize', 'cast', 'stow', 'map', 'reorder', 'copy']

async function outcome(source, target, subject) {
  const options = { name: `m${target.extensions[0]}`, deterministic: true }
  const planned = await planConversion(source, target.id, options).catch(() => undefined)
  if (!planned) return 'refused'
  return worstOf(planned.plan.actions, new Set([subject, `quantization of ${subject}`]))
}

/** Real files of the formats that are only read, or written from certain models only. */
const samples = {
  dcp: 'dcp/fsdp-adamw',
  flax: 'flax/train-state.msgpack',
  ggjt: 'ggjt/ggml-whisper-f16.bin',
  imatrix: 'imatrix/dense.dat',
  keras: 'keras/mlp.keras',
  'optimizer-json': 'optimizer-json/adam.json',
  tflite: 'tflite/int8.tflite',
}

/** What becomes of each kind of content in a file: the worst that happens to any of it. */
async function sampleRows(format) {
  const path = fileURLToPath(new URL(`../fixtures/${samples[format.id]}`, import.meta.url))
  const source = await openModel(await openInput(path))
  const groups = new Map()
  const put = (title, name) => groups.set(title, [...(groups.get(title) ?? []), name])
  for (const { name, dtype, role } of source.tensors)
    put(role === 'state' ? `optimizer state, ${dtype.id}` : `tensors of ${dtype.id}`, name)
  for (const [key, { type }] of source.metadata) put(`metadata of type ${type}`, key)
  for (const { kind, name } of source.parts) put(`part ${kind}`, name ?? kind)
  const rows = [...groups].map(([title, names]) => ({ title, names: new Set(names), cells: [] }))
  for (const target of writable) {
    const options = { name: `m${target.extensions[0]}`, deterministic: true }
    const planned = await planConversion(source, target.id, options).catch(() => undefined)
    for (const { names, cells } of rows) cells.push(planned ? worstOf(planned.plan.actions, names) : 'refused')
  }
  return rows.map(({ title, cells }) => `| ${title} | ${cells.join(' | ')} |`)
}

function worstOf(actions, names) {
  const own = actions.filter(({ name }) => names.has(name))
  const worst = gravity.find((action) => own.some((each) => each.action === action)) ?? 'copy'
  const { to } = own.find(({ action }) => action === worst) ?? {}
  return ['cast', 'dequantize'].includes(worst) ? `${words[worst]} to ${to}` : words[worst]
}

const table = (title, targets, rows) => [
  `## From ${title}`,
  '',
  `| content | ${targets.map((target) => target.title).join(' | ')} |`,
  `| --- |${' --- |'.repeat(targets.length)}`,
  ...rows,
  '',
]

export async function conversionsPage() {
  const lines = [
    '# What becomes of what',
    '',
    'Generated by `npm run docs`: small models with one kind of content each are written in the source format, read again and planned into every target.',
    'Only what a format holds by itself stands in its table. Formats that are not written are shown by a real file of theirs, at the end.',
    '',
    '- **kept**: as it is, or with its elements in another order',
    '- **mapped**: the same content in a form of the target; its own form is noted beside it where the target would not give it back',
    '- **stowed**: carried in the metadata key `tare.stowage` (in the archive comment of NPZ files) and restored when converting back',
    '- **cast to**, **decoded to**: another element type that holds every value, or the nearest one; the plan names what is lost',
    '- **dropped**: refused unless `--allow-loss` is given',
    '- **refused**: nothing of the model has a place in such a file',
    '',
  ]
  for (const format of writable) {
    const rows = []
    for (const [title, source, subject] of kinds) {
      const own = await native(source, format, subject)
      if (!own) continue
      const name = own.tensors.length === 1 && subject === 'w' ? own.tensors.at(0).name : subject
      const cells = []
      for (const target of writable) if (target !== format) cells.push(await outcome(own, target, name))
      rows.push(`| ${title} | ${cells.join(' | ')} |`)
    }
    const others = writable.filter((target) => target !== format)
    lines.push(...table(format.title, others, rows))
  }
  for (const format of formats.filter(({ id }) => Object.hasOwn(samples, id)))
    lines.push(...table(format.title, writable, await sampleRows(format)))
  return lines.join('\n')
}
