// Job files and results come from disks and stores that others write to, so nothing in them is believed before it is looked at.
import { isPathBelow } from '../bytes/index.js'
import { failWith } from '../errors/index.js'
import { jobCodes } from './codes.js'
import { identityOf, type Job, jobMark } from './job.js'
import { answersShape, lookKinds } from './looks.js'
import { fromFindings, type JobFindings, toFindings } from './options.js'
import {
  anything,
  count,
  either,
  fields,
  finite,
  flag,
  list,
  matching,
  numeral,
  oneOf,
  parseAs,
  record,
  text,
  tuple,
} from './shapes.js'

const texts = list(text)
const pairs = list(tuple([text, text]))

const quantization = fields({
  method: text,
  'pure?': flag,
  'methods?': pairs,
  'tensorMethod?': pairs,
  'everyMatrix?': flag,
  'domain?': oneOf('weights', 'activations'),
  'requantize?': flag,
  'target?': either(fields({ size: count }), fields({ bits: finite })),
  'mode?': oneOf('search', 'reference'),
  'codes?': oneOf('symmetric', 'all'),
  'clip?': tuple([numeral, numeral]),
})

const options = fields({
  name: text,
  ...Object.fromEntries(
    ['only', 'exclude', 'rename', 'dequantize', 'unset', 'without'].map((key) => [`${key}?`, texts]),
  ),
  ...Object.fromEntries(
    [
      ...['keepBytes', 'files', 'folder', 'stow', 'asIs', 'keepOrientation', 'dropState', 'dedup'],
      ...['deterministic', 'rewrite', 'ownState'],
    ].map((key) => [`${key}?`, flag]),
  ),
  'renameMap?': pairs,
  'cast?': text,
  'quantize?': quantization,
  'set?': list(tuple([text, text, text], 2)),
  'preTokenizer?': text,
  'shardSize?': count,
  'align?': count,
  'extra?': record(either(text, finite, flag)),
  'prefer?': oneOf('first', 'last'),
})

const input = fields({
  role: oneOf('model', 'merge', 'state', 'importance', 'vocabulary'),
  address: text,
  'name?': text,
  'from?': text,
  'lenient?': flag,
  files: list(fields({ name: text, size: count, 'version?': text })),
})

const kind = oneOf(...lookKinds)
const looks = fields({
  known: list(fields({ kind, answers: list(anything) })),
  next: fields({ kind, count }),
  'allowLoss?': text,
})

const jobShape = fields({
  job: oneOf(jobMark),
  id: matching(/^[0-9a-f]{16}$/, 'a number of 16 hexadecimal digits'),
  tare: text,
  inputs: list(input),
  target: text,
  options,
  resolved: fields({
    'methods?': pairs,
    'ranges?': list(tuple([count, tuple([numeral, numeral])])),
    'shared?': list(tuple([count, count])),
  }),
  allowDamage: flag,
  'looks?': looks,
  output: fields({ directory: text, isFolder: flag, overwrite: flag }),
  files: list(fields({ name: text, size: count, 'upload?': text })),
  partSize: count,
  tasks: count,
  layout: matching(/^[0-9a-f]{64}$/, 'a digest'),
})

/** The job that a file holds. `file` is for messages. */
export function parseJob(content: string, file: string): Job {
  const complain = (path: string, message: string): never => failWith(jobCodes.invalid, { file, path, message })
  const found = parseAs(content, jobShape, complain) as Omit<Job, 'resolved'> & { readonly resolved: JobFindings }
  if (found.inputs[0]?.role !== 'model') complain('inputs[0].role', 'the first input must be the model')
  if (found.files.length === 0) complain('files', 'there is no file to make')
  for (const [i, { name }] of found.files.entries())
    if (!isPathBelow(name)) complain(`files[${i}].name`, `${JSON.stringify(name)} leads out of the output`)
  for (const [i, { kind, answers }] of (found.looks?.known ?? []).entries())
    answersShape(kind)(answers, `looks.known[${i}].answers`, complain)
  if (found.partSize === 0) complain('partSize', 'parts must have a size')
  return { ...found, resolved: fromFindings(found.resolved) }
}

/** The text of a job file. */
export const formatJob = (job: Job): string => `${JSON.stringify(plainJob(job), null, 2)}\n`

/** What a job is known by: the digest of this text. */
export const identityText = (job: Job): string => JSON.stringify(identityOf(plainJob(job) as unknown as Job))

const plainJob = (job: Job): object => ({ ...job, resolved: toFindings(job.resolved) })
