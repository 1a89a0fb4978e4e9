// Job files and results travel over disks and stores that others write to: whatever stands in them, there is an error with a place, or a job.
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Job } from '../../src/jobs/job.js'
import { fromFindings, fromJobOptions, toFindings, toJobOptions } from '../../src/jobs/options.js'
import { formatJob, parseJob } from '../../src/jobs/parse-job.js'
import { formatResult, parseResult, type TaskResult } from '../../src/jobs/result.js'
import { isTareError, TareError } from '../../src/kit.js'

const job: Job = {
  job: 'tare job 1',
  id: '0123456789abcdef',
  tare: '1.2.3',
  inputs: [
    { role: 'model', address: '/models/a.safetensors', files: [{ name: 'a', size: 10, version: '"etag"' }] },
    { role: 'importance', address: 's3://b/imatrix.gguf', files: [{ name: 'b', size: 3 }] },
  ],
  target: 'gguf',
  options: { name: 'out.gguf', only: ['*.weight'], set: [['a', '1', 'u32']], renameMap: [['__proto__', 'x']] },
  resolved: {
    methods: new Map([['w', 'q4_k']]),
    ranges: new Map([[3, [-0, Number.POSITIVE_INFINITY] as const]]),
    shared: new Map([[5, 2]]),
  },
  allowDamage: false,
  output: { directory: '/models', isFolder: false, overwrite: true },
  files: [{ name: 'out.gguf', size: 1000, upload: 'u-1' }],
  partSize: 64,
  tasks: 17,
  layout: 'ab'.repeat(32),
}

/** The same with something else at a path. */
function changed(path: string, value: unknown): string {
  const root = JSON.parse(formatJob(job))
  const keys = path.split('.')
  let at = root
  for (const key of keys.slice(0, -1)) at = at[key]
  if (value === undefined) delete at[keys.at(-1)!]
  else at[keys.at(-1)!] = value
  return JSON.stringify(root)
}

function failureOf(text: string): TareError {
  try {
    parseJob(text, 'job.json')
  } catch (error) {
    if (error instanceof TareError) return error
    throw error
  }
  throw new Error('it was accepted')
}

describe('a job file', () => {
  it('comes back as it was written, with numbers that JSON does not have', () => {
    expect(parseJob(formatJob(job), 'job.json')).toEqual(job)
    const range = parseJob(formatJob(job), 'job.json').resolved.ranges!.get(3)!
    expect(Object.is(range[0], -0)).toBe(true)
  })

  it.each([
    ['job', 'tare job 2'],
    ['id', '../../etc'],
    ['inputs', []],
    ['inputs.0.role', 'merge'],
    ['inputs.0.files.0.size', -1],
    ['inputs.0.files.0.size', 1.5],
    ['inputs.0.files.0.size', 2 ** 60],
    ['inputs.0.files', { length: 2 }],
    ['options.name', undefined],
    ['options.only', 'all'],
    ['options.set', [['a']]],
    ['options.surprise', 1],
    ['options.quantize', { method: 'q4_k', clip: ['1', 'many'] }],
    ['resolved.ranges', [[0, ['1']]]],
    ['files', []],
    ['files.0.name', '../out'],
    ['files.0.name', '/etc/passwd'],
    ['partSize', 0],
    ['layout', 'zz'],
    ['output', null],
  ])('with %s as %j is refused by name', (path, value) => {
    const error = failureOf(changed(path, value))
    expect(error.code).toBe('job/invalid')
    expect(error.finding.path).toContain(path.split('.')[0])
  })

  it('of any other content is an error of tare, and never another one', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(failureOf(text).code).toBe('job/invalid')
      }),
    )
    expect(failureOf('{').finding.message).toContain('not JSON')
  })
})

it('options and findings keep their maps', () => {
  const options = {
    name: 'x',
    renameMap: new Map([['a', 'b']]),
    quantize: { method: 'k4', methods: new Map([['a', 'q8']]), clip: [-0, 1] as const },
  }
  const back = fromJobOptions(JSON.parse(JSON.stringify(toJobOptions(options, {}))))
  expect(back.renameMap).toEqual(options.renameMap)
  expect(back.quantize).toEqual(options.quantize)
  expect(fromFindings(JSON.parse(JSON.stringify(toFindings(job.resolved))))).toEqual(job.resolved)
})

describe('a result', () => {
  const result: TaskResult = {
    task: 4,
    seconds: 1.5,
    damage: [{ code: 'a/b', severity: 'error', message: 'm', file: 'f', offset: 3 }],
    shares: [
      { digest: 0, piece: { from: 0, to: 10, digest: Uint8Array.of(1, 2, 3, 4) } },
      {
        digest: 7,
        piece: {
          from: 512,
          to: 4096,
          nodes: [
            { chunks: 0, bytes: new Uint8Array(512).fill(3) },
            { chunks: 2, bytes: new Uint8Array(32).fill(9) },
          ],
        },
      },
    ],
  }

  it('comes back as it was left', () => {
    expect(parseResult(formatResult('j', result), 'j', 4, 'r')).toEqual(result)
  })

  it.each([
    ['of another job', formatResult('other', result)],
    ['of another task', formatResult('j', { ...result, task: 5 })],
    ['that is cut', formatResult('j', result).slice(0, -3)],
    ['with a digest of no algorithm', '{"job":"j","task":4,"seconds":1,"shares":[[0,0,1,"AAA="]]}'],
    ['with a node that is too short', '{"job":"j","task":4,"seconds":1,"shares":[[0,0,1,[[2,"AAAA"]]]]}'],
    ['that ends before it begins', '{"job":"j","task":4,"seconds":1,"shares":[[0,9,1,"AAAAAA=="]]}'],
  ])('%s is refused', (_, text) => {
    expect(() => parseResult(text, 'j', 4, 'r')).toThrow(TareError)
    try {
      parseResult(text, 'j', 4, 'r')
    } catch (error) {
      expect(isTareError(error, 'job/result')).toBe(true)
    }
  })

  it('of any other content is an error of tare', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(() => parseResult(text, 'j', 4, 'r')).toThrow(TareError)
      }),
    )
  })
})
