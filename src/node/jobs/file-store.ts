// The parts of a job on a file system that all workers share. A folder beside the output holds its files under other names, in their full
// length from the beginning, and a small file for each part that is done. Workers write into place and flush before they say that they are
// done; nothing that they write depends on others, so it does not matter who comes late or does something twice.
import { mkdir, open, readdir, readFile, rename, rm, stat, unlink, writeFile } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import type { ByteSource } from '../../bytes/index.js'
import { failWith, ioCodes } from '../../errors/index.js'
import { jobCodes } from '../../jobs/codes.js'
import type { Job } from '../../jobs/job.js'
import { formatJob } from '../../jobs/parse-job.js'
import {
  formatResult,
  type KnownResults,
  longName,
  resultName,
  resultsNamed,
  type TaskResult,
} from '../../jobs/result.js'
import type { JobStore, LateBytes } from '../../jobs/store.js'
import type { RangeTask, Task } from '../../jobs/tasks.js'
import type { OutputRange } from '../../writing/ranges/range-of.js'
import { FileSource } from '../files/file-source.js'
import { withIoErrors } from '../files/io-error.js'
import { replaceFiles, syncDirectory } from '../files/replace-files.js'

/** Workers leave a line or two, or a list of digests. */
const maxResult = 1 << 28
const maxInFlight = 64

export class FileStore implements JobStore {
  readonly limits = { isStored: false }
  readonly #job: Job
  readonly #folder: string

  constructor(job: Job) {
    this.#job = job
    this.#folder = folderOf(job)
  }

  /** Makes the folder, or goes on with the one that is there: the same job has the same id. */
  async prepare(): Promise<void> {
    const { files, output } = this.#job
    if (!output.overwrite) await this.#assertAbsent()
    await withIoErrors(this.#folder, async () => {
      await mkdir(join(this.#folder, 'results'), { recursive: true })
      for (const [i, { size }] of files.entries()) {
        const handle = await open(this.#dataOf(i), 'a')
        try {
          if ((await handle.stat()).size !== size) await handle.truncate(size)
        } finally {
          await handle.close()
        }
      }
      await writeWhole(join(this.#folder, 'job.json'), formatJob(this.#job))
    })
  }

  get jobAddress(): string {
    return join(this.#folder, 'job.json')
  }

  async results(): Promise<KnownResults> {
    return resultsNamed(await this.#list())
  }

  async done(tasks: readonly Task[]): Promise<ReadonlySet<number>> {
    const results = await this.results()
    return new Set(tasks.map(({ number }) => number).filter((number) => results.has(number)))
  }

  async #list(): Promise<string[]> {
    try {
      return await readdir(join(this.#folder, 'results'))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
      const message =
        'the folder of its parts is not there: the job was finished or discarded, or this machine does not see the file system'
      return failWith(jobCodes.gone, { file: this.#folder, message })
    }
  }

  async write({ file }: RangeTask, range: OutputRange): Promise<void> {
    const path = this.#dataOf(file)
    const handle = await withIoErrors(path, () => open(path, 'r+'))
    try {
      for await (const { at, bytes } of range.placed()) await withIoErrors(path, () => writeAll(handle, bytes, at))
      await withIoErrors(path, () => handle.datasync())
    } finally {
      await handle.close()
    }
  }

  async putResult(job: string, result: TaskResult): Promise<void> {
    const name = resultName(result)
    const path = join(this.#folder, 'results', name)
    const text = name === longName(result.task) ? formatResult(job, result) : ''
    await withIoErrors(path, () => (text === '' ? writeFile(path, '') : writeWhole(path, text)))
  }

  async result(task: number): Promise<{ readonly name: string; readonly text: string } | undefined> {
    const name = this.#resultOf(task)
    const there = await stat(name).catch(() => undefined)
    if (!there) return undefined
    if (there.size > maxResult) failWith(jobCodes.result, { file: name, message: `it has ${there.size} bytes` })
    return { name, text: await withIoErrors(name, () => readFile(name, 'utf8')) }
  }

  /** Puts the bytes in that were missing, has everything opened again, and gives the files their names. */
  async commit(_: unknown, late: LateBytes, assertOpens: (written: ByteSource) => Promise<void>): Promise<void> {
    const { files, output } = this.#job
    const waiting = await this.#waiting()
    for (const i of waiting) await this.#complete(i, late[i]!)
    if (!output.overwrite) await this.#assertAbsent(waiting)
    const targets = files.map(({ name }) => join(output.directory, name))
    if (waiting.length > 0) {
      // Another finisher that gave some of them their names had opened all of them before.
      if (waiting.length === files.length) {
        const paths = new Map(files.map(({ name }, i) => [name, this.#dataOf(i)]))
        await assertOpens(await FileSource.open(this.#dataOf(0), targets[0]!, paths))
      }
      await withIoErrors(output.directory, async () => {
        for (const target of targets) await mkdir(dirname(target), { recursive: true })
        replaceFiles(waiting.map((i) => ({ temp: this.#dataOf(i), target: targets[i]! })))
      })
    }
    await this.discard()
  }

  /** The files that do not have their names yet. */
  async #waiting(): Promise<number[]> {
    const { files, output } = this.#job
    const waiting: number[] = []
    for (const [i, { name, size }] of files.entries()) {
      if (await stat(this.#dataOf(i)).catch(() => undefined)) waiting.push(i)
      else if ((await stat(join(output.directory, name)).catch(() => undefined))?.size !== size)
        failWith(jobCodes.gone, { file: this.#dataOf(i), message: 'this file of the output is gone' })
    }
    return waiting
  }

  async #complete(index: number, late: ReadonlyMap<number, Uint8Array>): Promise<void> {
    const path = this.#dataOf(index)
    await withIoErrors(path, async () => {
      const handle = await open(path, 'r+')
      try {
        for (const [at, bytes] of late) await writeAll(handle, bytes, at)
        await handle.sync()
      } finally {
        await handle.close()
      }
    })
  }

  async isFinished(): Promise<boolean> {
    const { files, output } = this.#job
    const there = await Promise.all(files.map(({ name }) => stat(join(output.directory, name)).catch(() => undefined)))
    return !(await stat(this.#folder).catch(() => undefined)) && there.every((each, i) => each?.size === files[i]!.size)
  }

  /** Of the files that do not have their names yet. */
  async #assertAbsent(waiting?: readonly number[]): Promise<void> {
    const { files, output } = this.#job
    for (const [i, { name }] of files.entries()) {
      const path = join(output.directory, name)
      if (waiting?.includes(i) === false || !(await stat(path).catch(() => undefined))) continue
      failWith(ioCodes.exists, { file: path, message: 'it already exists' })
    }
  }

  async discard(): Promise<void> {
    await withIoErrors(this.#folder, async () => {
      // A hundred thousand results take long one by one.
      const names = await readdir(join(this.#folder, 'results')).catch(() => [])
      const paths = names.map((name) => join(this.#folder, 'results', name))
      for (let i = 0; i < paths.length; i += maxInFlight)
        await Promise.all(paths.slice(i, i + maxInFlight).map((path) => unlink(path).catch(() => {})))
      await rm(this.#folder, { recursive: true, force: true })
    })
    syncDirectory(dirname(this.#folder))
  }

  #dataOf(file: number): string {
    return join(this.#folder, `file-${file}`)
  }

  #resultOf(task: number): string {
    return join(this.#folder, 'results', longName(task))
  }
}

/** Beside the output, on the same file system. */
function folderOf({ id, output, files }: Job): string {
  const target = output.isFolder ? resolve(output.directory) : join(output.directory, files[0]!.name)
  return join(dirname(target), `${basename(target)}.job-${id}`)
}

/** A file system that machines share may take less than it is given. */
async function writeAll(handle: import('node:fs/promises').FileHandle, bytes: Uint8Array, at: number): Promise<void> {
  for (let done = 0; done < bytes.byteLength; )
    done += (await handle.write(bytes, done, bytes.byteLength - done, at + done)).bytesWritten
}

let drafts = 0

/** The file is there with all of its content, or it is not there. */
export async function writeWhole(path: string, text: string): Promise<void> {
  const draft = `${path}.${process.pid}-${Math.random().toString(16).slice(2, 10)}-${drafts++}.tmp`
  try {
    await writeFile(draft, text, { flush: true })
    await rename(draft, path)
  } catch (error) {
    await rm(draft, { force: true }).catch(() => {})
    throw error
  }
}
