// What is known about the files of a directory that were fetched into it: which version each is of, and whether all of it is there.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { FileSink } from '../files/file-sink.js'

export interface FetchedFile {
  readonly version: string
  readonly size: number
  /** The time of the file when it was complete. */
  readonly done?: number | undefined
}

const stateFile = '.tare-fetch.json'

/** The state of a directory, kept in a file of it. */
export class FetchState {
  readonly #directory: string
  readonly #files: Map<string, FetchedFile>
  #saving: Promise<void> = Promise.resolve()

  private constructor(directory: string, files: Map<string, FetchedFile>) {
    this.#directory = directory
    this.#files = files
  }

  static async read(directory: string): Promise<FetchState> {
    const text = await readFile(join(directory, stateFile), 'utf8').catch(() => '')
    return new FetchState(directory, parse(text))
  }

  get(path: string): FetchedFile | undefined {
    return this.#files.get(path)
  }

  /** Replaces the file, one change after the other. */
  set(path: string, file: FetchedFile): Promise<void> {
    this.#files.set(path, file)
    this.#saving = this.#saving.then(async () => {
      const sink = await FileSink.open(join(this.#directory, stateFile))
      await sink.write(
        new TextEncoder().encode(`${JSON.stringify({ files: Object.fromEntries(this.#files) }, null, 1)}\n`),
      )
      await sink.close()
    })
    return this.#saving
  }
}

/** What cannot be understood counts as nothing: then files are fetched again. */
function parse(text: string): Map<string, FetchedFile> {
  try {
    const { files } = JSON.parse(text) as { files: Record<string, Partial<FetchedFile>> }
    const isFile = (file: Partial<FetchedFile>): boolean =>
      typeof file.version === 'string' && typeof file.size === 'number'
    return new Map(Object.entries(files).filter(([, file]) => isFile(file)) as [string, FetchedFile][])
  } catch {
    return new Map()
  }
}
