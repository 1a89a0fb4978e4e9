import { loadView, type ServedModels, TareError, type ViewServer } from '../../../kit-node.js'
import { plural } from '../../console/format-values.js'
import type { Context } from '../../context.js'
import { checkStdin, expandInputs, inputOptions, openOptions, reportFailure } from '../../input/run-inputs.js'
import { type Status, UsageError } from '../../status.js'
import type { ViewOptions } from './index.js'

export default async function view(context: Context, words: readonly string[], options: ViewOptions): Promise<Status> {
  const { findPageFolder, ServedModels } = await loadView()
  const page = findPageFolder()
  if (page === undefined) throw new UsageError('this installation has no page (dist/viewer); `npm run build` makes it')
  checkStdin(words)
  const { inputs, status } = await expandInputs(context, words, options)
  if (status !== 0) return status
  let models: ServedModels
  try {
    models = await ServedModels.open(inputs, { ...inputOptions(context), ...openOptions(context) })
  } catch (error) {
    if (!(error instanceof TareError)) throw error
    return reportFailure(context, error.finding.file, null, error)
  }
  try {
    const server = await listen(page, models, options.port)
    try {
      await announce(context, server, models, options)
      await untilEnded(context.signal)
    } finally {
      await server.close()
    }
  } finally {
    await models.close()
  }
  return 0
}

async function listen(page: string, models: ServedModels, port: number | undefined): Promise<ViewServer> {
  try {
    return await (await loadView()).serveView({ page, models, port })
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'EADDRINUSE') throw new UsageError(`port ${port} is in use; choose another, or leave out --port`)
    if (code === 'EACCES') throw new UsageError(`port ${port} is not permitted: ${message}`)
    throw error
  }
}

async function announce(
  { console, json }: Context,
  { address, port }: ViewServer,
  models: ServedModels,
  { open }: ViewOptions,
): Promise<void> {
  const { openBrowser, tunnelCommand } = await loadView()
  const { files } = await models.list()
  if (json) await console.json({ address, port, files })
  else await console.print([address])
  const tunnel = tunnelCommand(port)
  if (tunnel !== undefined) console.remark(`on your own machine: ${tunnel}\nthen open the address above there`)
  else if (open !== false && !(await openBrowser(address))) console.remark('open this address in a browser')
  console.remark(`${plural(files.length, 'file')} can be read there, by this address only; Ctrl-C ends it`)
}

/** Until the user has seen enough. */
function untilEnded(signal: AbortSignal): Promise<void> {
  return new Promise((ended) => {
    const end = (): void => {
      for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.off(name, end)
      ended()
    }
    for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(name, end)
    signal.addEventListener('abort', end, { once: true })
    if (signal.aborted) end()
  })
}
