import {
  type Fetched,
  failWith,
  fetchFiles,
  filesAt,
  ioCodes,
  isRemote,
  type RemoteFile,
  selector,
} from '../../../kit-node.js'
import { escapeName } from '../../console/escape.js'
import { formatSize, plural } from '../../console/format-values.js'
import { formatTable, nameColumn, rightColumn } from '../../console/table.js'
import type { Context } from '../../context.js'
import { inputOptions, reportFailure } from '../../input/run-inputs.js'
import { type Status, UsageError } from '../../status.js'
import type { FetchOptions } from './index.js'

export default async function fetch(
  context: Context,
  words: readonly string[],
  options: FetchOptions,
): Promise<Status> {
  const [address = ''] = words
  const { output, dryRun = false } = options
  if (!isRemote(address))
    throw new UsageError(`${address} is not an address; fetch takes http, s3, gs and hf addresses`)
  if (output === undefined && !dryRun) throw new UsageError('name the directory with -o DIRECTORY')
  if (output !== undefined && isRemote(output)) throw new UsageError('fetch brings files to a directory here')
  try {
    const files = await chosenFiles(context, address, options)
    if (dryRun) await showFiles(context, address, files)
    else await bring(context, address, files, output!, options)
    return 0
  } catch (error) {
    return reportFailure(context, address, null, error)
  } finally {
    context.console.progress.finish()
  }
}

/** Hidden files belong to the tools that keep the others. */
async function chosenFiles(
  context: Context,
  address: string,
  { only, exclude }: FetchOptions,
): Promise<readonly RemoteFile[]> {
  const isChosen = selector(only, exclude)
  const isHidden = (path: string): boolean => path.split('/').some((name) => name.startsWith('.'))
  const files = await filesAt(address, inputOptions(context))
  const chosen = files.filter(({ path }) => !isHidden(path) && isChosen(path))
  if (chosen.length === 0)
    failWith(ioCodes['empty-directory'], {
      file: address,
      message: `none of its ${plural(files.length, 'file')} is chosen`,
    })
  return chosen
}

async function showFiles({ console, json }: Context, address: string, files: readonly RemoteFile[]): Promise<void> {
  const listed = files.map(({ path, size }) => ({ path, size }))
  if (json) return console.json({ file: address, format: null, dryRun: true, files: listed })
  const rows = listed.map(({ path, size }) => [escapeName(path), formatSize(size)])
  await console.print(formatTable([nameColumn, rightColumn('size')], rows, console.look))
  await console.print([`${plural(files.length, 'file')}, ${formatSize(sumOf(files))}`])
}

const sumOf = (files: readonly { readonly size: number }[]): number => files.reduce((sum, { size }) => sum + size, 0)

async function bring(
  { console, signal, json }: Context,
  address: string,
  files: readonly RemoteFile[],
  output: string,
  { parallel }: FetchOptions,
): Promise<void> {
  console.progress.start()
  const fetched = await fetchFiles(files, output, { parallel, signal, onProgress: console.progress.update })
  if (json) await console.json({ file: address, format: null, dryRun: false, output, files: fetched })
  else console.remark(`${escapeName(output)}: ${describe(fetched)}`)
}

function describe(files: readonly Fetched[]): string {
  const count = (how: Fetched['how']): number => files.filter((file) => file.how === how).length
  const [kept, resumed] = [count('kept'), count('resumed')]
  const unchecked = files.filter(({ checked }) => checked === null).length
  return [
    `${plural(files.length, 'file')}, ${formatSize(sumOf(files))}`,
    ...(kept > 0 ? [`${kept} there already`] : []),
    ...(resumed > 0 ? [`${resumed} continued`] : []),
    `${files.length - unchecked} compared with digests of the server`,
  ].join(', ')
}
