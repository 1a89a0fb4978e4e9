// Uploads that are under way, beside the cache of this user: a file for each object, until it is complete.
import { createHash } from 'node:crypto'
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { UploadLedger } from '../../remote/s3/ledger.js'
import { defaultCacheDirectory } from '../files/disk-store.js'
import { isRunning, machineTag } from '../files/temp-files.js'

interface Entry {
  readonly upload: string
  readonly plan: string
  readonly process: number
  readonly machine: string
}

/** `store` tells objects of the same name in different stores apart. Undefined where this user has no place for a cache. */
export function uploadLedger(store: string): UploadLedger | undefined {
  const cache = defaultCacheDirectory()
  if (cache === undefined) return undefined
  const directory = join(cache, 'uploads')
  const pathOf = (name: string): string =>
    join(directory, `${createHash('sha256').update(`${store}\n${name}`).digest('hex')}.json`)
  return {
    async find(name, plan) {
      const entry = await readEntry(pathOf(name))
      if (!entry) return undefined
      const isBusy = entry.process !== process.pid && entry.machine === machineTag() && isRunning(entry.process)
      return isBusy ? undefined : { upload: entry.upload, isSame: entry.plan === plan }
    },
    async remember(name, upload, plan) {
      const path = pathOf(name)
      const draft = `${path}.${process.pid}.tmp`
      const entry: Entry = { upload, plan, process: process.pid, machine: machineTag() }
      // Without it the upload cannot be continued later, and that is all.
      await mkdir(directory, { recursive: true })
        .then(() => writeFile(draft, JSON.stringify(entry), { mode: 0o600 }))
        .then(() => rename(draft, path))
        .catch(() => {})
    },
    async forget(name) {
      await rm(pathOf(name), { force: true }).catch(() => {})
    },
  }
}

async function readEntry(path: string): Promise<Entry | undefined> {
  try {
    const entry = JSON.parse(await readFile(path, 'utf8')) as Partial<Entry>
    const isEntry =
      typeof entry.upload === 'string' && typeof entry.plan === 'string' && typeof entry.process === 'number'
    return isEntry ? (entry as Entry) : undefined
  } catch {
    return undefined
  }
}
