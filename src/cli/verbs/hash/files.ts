// Digests of whole files, and of the tensors of GGUF files, as the lists of other tools have them.
import { existsSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { dirname, isAbsolute, join, resolve } from 'node:path'
import {
  closeModel,
  createHasher,
  hashFiles,
  hashModel,
  isMissing,
  isRemote,
  listFiles,
  openInput,
  openModel,
  pathIn,
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
  const file = isGguf || item === '.' ? input : pathIn(input, item)
  const entry = { digest, file, ...(isGguf && item !== '.' && { tensor: item }) }
  if (context.json) await context.console.json({ ...entry, algorithm: algorithmOf[form] })
  else await context.console.print([manifestLine(form, entry)])
}

/** By path below the input; `.` is the input itself. */
async function fileDigests(context: Context, input: string, form: ManifestForm): Promise<Map<string, string>> {
  const remote = inputOptions(context)
  const files = await listFiles(input, { allowSymlinks: true, ignorePaths: ['.git'], remote })
  const { signal, pool, console } = context
  const { resources } = await hashFiles(
    files,
    { hash: algorithmOf[form] },
    { signal, pool, remote, onProgress: console.progress.update },
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
  { form: stated, isGuess, lines }: FileManifest,
  { check: list = '', changed }: HashOptions,
): Promise<Status> {
  const { console } = context
  if (lines.length === 0) throw new UsageError(`${list} has no SHA-256 digests; gguf-hash writes them with --sha256`)
  if (changed && [list, ...inputs].some(isRemote))
    throw new UsageError('--changed compares times of files on this machine')
  const since = changed ? (await stat(list)).mtimeMs : undefined
  let form = stated
  let isCertain = !isGuess
  const found = new Map<string, Promise<Map<string, string>>>()
  const checked: Checked[] = []
  const whereIs = await findPlaces(context, inputs, list)
  for (const line of lines) {
    const path = whereIs(line.file)
    if (path === undefined) continue // of a file that was not asked about
    checked.push({ ...line, what: await checkOne(path, line) })
  }
  async function checkOne(path: string, { digest, tensor = '.' }: ManifestLine): Promise<Checked['what']> {
    const stats = isRemote(path) ? undefined : await stat(path).catch(() => undefined)
    if (!stats && !isRemote(path)) return 'missing'
    if (since !== undefined && stats && stats.mtimeMs < since && stats.ctimeMs < since) return 'unread'
    const now = await digestOf(path, tensor, form)
    if (now === undefined) return 'missing'
    if (now === digest) isCertain = true
    else if (!isCertain && (await digestOf(path, tensor, 'b3sum')) === digest) {
      form = 'b3sum'
      isCertain = true
    } else return 'changed'
    return 'same'
  }
  function digestOf(path: string, tensor: string, as: ManifestForm): Promise<string | undefined> {
    const key = `${as} ${path}`
    const digests = found.get(key) ?? (as === 'gguf-hash' ? ggufDigests(context, path) : fileDigests(context, path, as))
    found.set(key, digests)
    return digests.then(
      (all) => all.get(tensor),
      async (error) => {
        if (isRemote(path) && (await isMissing(error))) return undefined
        throw error
      },
    )
  }
  if (checked.length === 0) throw new UsageError(`${list} has no digests of what was given`)
  const bad = checked.filter(({ what }) => what === 'changed' || what === 'missing')
  if (context.json)
    await console.json({
      file: list,
      form,
      same: bad.length === 0,
      checked: checked.map((each) => ({ ...each, algorithm: algorithmOf[form] })),
    })
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

/** Where the files of a list are: below a directory or an address that was given, or as they stand, or beside the list. */
async function findPlaces(
  context: Context,
  inputs: readonly string[],
  list: string,
): Promise<(file: string) => string | undefined> {
  const remote = new Map<string, ReadonlySet<string>>()
  for (const input of inputs.filter(isRemote)) {
    const options = { allowSymlinks: true, ignorePaths: [], remote: inputOptions(context) }
    remote.set(input, new Set((await listFiles(input, options)).map(({ name }) => name)))
  }
  return (file) => {
    if (inputs.length === 0) return placeHere(file, undefined, list)
    for (const input of inputs) {
      const names = remote.get(input)
      const place = names ? placeAt(file, input, names) : placeHere(file, input, list)
      if (place !== undefined) return place
    }
    return undefined
  }
}

/** Where it is below an address with files of these names; `.` is the address itself. */
function placeAt(file: string, input: string, names: ReadonlySet<string>): string | undefined {
  if (file === input) return input
  if (names.has('.')) return input.endsWith(`/${file}`) ? input : undefined
  if (names.has(file)) return pathIn(input, file)
  return file.startsWith(input.replace(/\/*$/, '/')) ? file : undefined
}

/** The same here; without an input, as the file stands or beside the list. */
function placeHere(file: string, input: string | undefined, list: string): string | undefined {
  if (isRemote(file)) return input === undefined ? file : undefined
  const beside = pathIn(isRemote(list) ? list.slice(0, list.lastIndexOf('/')) : dirname(list), file)
  if (input === undefined) {
    const isThere = isAbsolute(file) || existsSync(file)
    return isThere || !(isRemote(beside) || existsSync(beside)) ? file : beside
  }
  const below = join(input, file)
  if (existsSync(below)) return below
  if ([file, beside].some((path) => resolve(path) === resolve(input)) || resolve(input).endsWith(`/${file}`))
    return input
  return resolve(file).startsWith(`${resolve(input)}/`) ? file : undefined
}
