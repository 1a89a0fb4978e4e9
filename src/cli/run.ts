// From the words on the command line to a verb and an exit status.
import { CommanderError } from 'commander'
import { Console } from './console/console.js'
import {
  describeFailure,
  endAtClosedPipe,
  installLastResort,
  installSignals,
  isClosedPipe,
} from './console/process-events.js'
import type { Context } from './context.js'
import type { Flags, OptionsOf } from './flags/flag.js'
import { commonFlags, type threads } from './flags/shared.js'
import { buildProgram, withBareValues } from './program.js'
import type { Status } from './status.js'
import { verbs } from './verbs/index.js'
import type { CallableVerb } from './verbs/verb.js'

/** Does what the arguments say and sets the exit status of the process. */
export async function run(args: readonly string[], version: string): Promise<void> {
  const console = new Console()
  installLastResort(console)
  process.exitCode = await execute(args, version, console, installSignals(console))
}

/** The same without touching the process. */
export async function execute(
  args: readonly string[],
  version: string,
  console: Console,
  signal: AbortSignal,
): Promise<Status> {
  const { verb, formatFlags } = await findVerb(args)
  let status: Status = 0
  const table = verbs.map((each) => (each.name === verb?.name ? verb : each))
  const program = buildProgram(version, table, console, async (words, options) => {
    console.quiet = options.quiet === true
    const ofFormats = Object.entries(options).filter(([name]) => Object.hasOwn(formatFlags, name))
    const formatOptions = Object.fromEntries(ofFormats) as Context['formatOptions']
    const { default: act } = await verb!.load()
    status = await act({ console, signal, ...readCommon(options), formatOptions }, words, options)
  })
  try {
    if (!verb && args.some((arg) => arg === '--version' || arg === '-V'))
      await (await loadFormatFacts()).printVersions(console, version)
    else await program.parseAsync(withBareValues(args, { ...verb?.flags, ...commonFlags }), { from: 'user' })
  } catch (error) {
    status = statusOfFailure(error, console)
  }
  console.progress.finish()
  return status
}

/** The verb that is called or asked about. The formats are loaded only where it takes flags from them, or its help speaks of them. */
async function findVerb(args: readonly string[]): Promise<{ verb?: CallableVerb; formatFlags: Flags }> {
  const name = args.find((arg) => verbs.some((verb) => verb.name === arg))
  const verb = verbs.find((each) => each.name === name)
  if (verb?.formatOptions) {
    const formatFlags = (await loadFormatFacts()).formatFlags(verb.formatOptions)
    return { verb: { ...verb, flags: { ...verb.flags, ...formatFlags } }, formatFlags }
  }
  if (verb?.saysRepairs && args.some((arg) => arg === '--help' || arg === '-h' || arg === 'help')) {
    const description = `${verb.description}\n\n${(await loadFormatFacts()).describeRepairs()}`
    return { verb: { ...verb, description }, formatFlags: {} }
  }
  return { verb, formatFlags: {} }
}

const loadFormatFacts = () => import('./format-facts.js')

type CommonOptions = OptionsOf<typeof commonFlags & { threads: typeof threads }>

const readCommon = ({ json, from, lenient, remoteParts, header, cache, threads }: CommonOptions) => ({
  json: json === true, // one verb gives it a value
  from,
  lenient: lenient === true,
  remoteParts,
  headers: Object.fromEntries(header ?? []),
  cache: cache !== false,
  threads,
})

function statusOfFailure(error: unknown, console: Console): Status {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
  if (isClosedPipe(error)) return endAtClosedPipe(console)
  console.complain(describeFailure(error))
  return 2
}
