// Digests of whole files, and of the tensors of GGUF files, as the lists of other tools have them.
import { existsSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import {
  closeModel,
  createHasher,
  hashFiles,
  hashModel,
  listFiles,
  openInput,
  openModel,
  TareError,
  toHex,
} from '../../../kit-node.js'
import { escapeName } from '../../console/escape.js'
import { formatInteger, plural } from '../../console/format-values.js'
import type { Context } from '../../context.js'
import { inputOptions, modelOptions, reportFailure } from '../../input/run-inputs.js'
import { type Status, UsageError } from '../../status.js'
import type { HashOptions } from './index.js'
import { type FileManifest, type ManifestForm, type ManifestLine, manifestLine } from './manifest.js'

const algorithmOf: Readonly<Record<ManifestForm, 'sha256' | 'blake3'>> = {
  sha256sum: 'sha256',
  b3sum: 'blake3',
  'gguf-hash': 'sha256',
}

/** Prints a list for other tools to check. */
export async function writeManifest(context: Context, inputs: readonly string[], form: ManifestForm): Promise<Status> {
  if (inputs.length === 0) throw new UsageError('name the files or directories to hash')
  let status: Status = 0
  for (const input of inputs) {
    try {
      const digests = form === 'gguf-hash' ? await ggufDigests(context, input) : await fileDigests(context, input, form)
      for (const [item, digest] of digests) await print(context, form, input, item, digest)
    } catch (error) {
      if (!(error instanceof TareError)) throw error
      const failed = await reportFailure(context, input, null, error)
      if (failed > status) status = failed
    }
  }
  return status
}

async function print(context: Context, form: ManifestForm, input: string, item: string, digest: string): Promise<void> {
  const isGguf = form === 'gguf-hash'
  const file = isGguf || item === '.' ? input : join(input, item)
  const entry = { digest, file, ...(isGguf && item !== '.' && { tensor: item }) }
  if (context.json) await context.console.json({ ...entry, algorithm: algorithmOf[form] })
  else await context.console.print([manifestLine(form, entry)])
}

/** By path below the input; `.` is the input itself. */
async function fileDigests(context: Context, input: string, form: ManifestForm): Promise<Map<string, string>> {
  const files = await listFiles(input, { allowSymlinks: true, ignorePaths: ['.git'] })
  const { signal, pool, console } = context
  const { resources } = await hashFiles(
    files,
    { hash: algorithmOf[form] },
    { signal, pool, onProgress: console.progress.update },
  )
  return new Map(resources.map(({ name, digest }) => [name, digest]))
}

/** By tensor; `.` is all of them, one after the other. */
async function ggufDigests(context: Context, input: string): Promise<Map<string, string>> {
  const model = await openModel(await openInput(input, inputOptions(context)), modelOptions(context))
  try {
    const { tensors } = await hashModel(model, {
      algorithm: 'sha256',
      stow: false,
      signal: context.signal,
      pool: context.pool,
    })
    const all = await createHasher('sha256')
    for (const { data } of model.tensors)
      if (data) for await (const chunk of data.chunks(1 << 20, context.signal)) all.update(chunk)
    const digests = new Map(tensors.map(({ name, digest }) => [name, digest ?? '']))
    return digests.set('.', toHex(all.digest()))
  } finally {
    await closeModel(model)
  }
}

interface Checked extends ManifestLine {
  readonly what: 'same' | 'changed' | 'missing' | 'unread'
}

/** Compares files with a list. With --changed, files that are older than the list are taken as they are. */
export async function checkManifest(
  context: Context,
  inputs: readonly string[],
  { form, lines }: FileManifest,
  { check: list = '', changed }: HashOptions,
): Promise<Status> {
  const { console } = context
  if (lines.length === 0) throw new UsageError(`${list} has no SHA-256 digests; gguf-hash writes them with --sha256`)
  const since = changed ? (await stat(list)).mtimeMs : undefined
  const found = new Map<string, Promise<Map<string, string>>>()
  const checked: Checked[] = []
  for (const line of lines) {
    const path = placeOf(line.file, inputs, list)
    if (path === undefined) continue // of a file that was not asked about
    checked.push({ ...line, what: await checkOne(path, line) })
  }
  async function checkOne(path: string, { digest, tensor = '.' }: ManifestLine): Promise<Checked['what']> {
    const stats = await stat(path).catch(() => undefined)
    if (!stats) return 'missing'
    if (since !== undefined && stats.mtimeMs < since && stats.ctimeMs < since) return 'unread'
    const digests =
      found.get(path) ?? (form === 'gguf-hash' ? ggufDigests(context, path) : fileDigests(context, path, form))
    found.set(path, digests)
    const now = (await digests).get(tensor)
    return now === undefined ? 'missing' : now === digest ? 'same' : 'changed'
  }
  if (checked.length === 0) throw new UsageError(`${list} has no digests of what was given`)
  const bad = checked.filter(({ what }) => what === 'changed' || what === 'missing')
  if (context.json) await console.json({ file: list, form, same: bad.length === 0, checked })
  else {
    for (const { file, tensor, what } of bad)
      await console.print([
        `${console.color.red(what)}  ${escapeName(file)}${tensor === undefined ? '' : ` ${escapeName(tensor)}`}`,
      ])
    await console.print([summary(checked, bad.length, list)])
  }
  return bad.length === 0 ? 0 : 1
}

function summary(checked: readonly Checked[], bad: number, list: string): string {
  const unread = checked.filter(({ what }) => what === 'unread').length
  const notes = [
    bad === 0 ? 'all the same' : `${formatInteger(bad)} of ${formatInteger(checked.length)} differ`,
    unread > 0 && `${formatInteger(unread)} not read because they have not been touched since`,
  ]
  return `${escapeName(list)}: ${notes.filter(Boolean).join(', ')} — ${plural(checked.length, 'digest')}`
}

/** Where a file of a list is: below a directory that was given, or as it stands, or beside the list. */
function placeOf(file: string, inputs: readonly string[], list: string): string | undefined {
  const beside = join(dirname(list), file)
  if (inputs.length === 0) return isAbsolute(file) || existsSync(file) || !existsSync(beside) ? file : beside
  for (const input of inputs) {
    const below = join(input, file)
    if (existsSync(below)) return below
    if ([file, beside].some((path) => resolve(path) === resolve(input)) || resolve(input).endsWith(`/${file}`))
      return input
    if (resolve(file).startsWith(`${resolve(input)}/`)) return file
  }
  return undefined
}
