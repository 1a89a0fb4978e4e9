// From the words on the command line to a verb and an exit status.
import { CommanderError } from 'commander'
import type { WorkerPool } from '../kit-node.js'
import { Console } from './console/console.js'
import {
  describeFailure,
  endAtClosedPipe,
  followUnfinished,
  installLastResort,
  installSignals,
  isClosedPipe,
} from './console/process-events.js'
import type { Context } from './context.js'
import type { Flags, OptionsOf } from './flags/flag.js'
import type { commonFlags, tableFlags, threads } from './flags/shared.js'
import { buildProgram, flagsOf, withBareValues } from './parser.js'
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
  if (args[0] === completeWord) return printCompletions(args.slice(1), console)
  // A name and password, or a signature.
  if (args.some((word) => /https?:\/\/.*[@?]/i.test(word)))
    console.secrets = (await import('./library.js')).secretsOf(args)
  const { verb, formatFlags } = await findVerb(args)
  // `help nosuch` is the same mistake as `nosuch`, and gets the same suggestion.
  const isWrongHelp = args[0] === 'help' && args.length > 1 && !verb
  const isHelpFirst = verb !== undefined && (args[0] === '--help' || args[0] === '-h')
  const words = isWrongHelp ? args.slice(1) : isHelpFirst ? ['help', verb.name] : args
  let status: Status = 0
  const table = verbs.map((each) => (each.name === verb?.name ? verb : each))
  const program = buildProgram(version, table, verb, console, async (words, options) => {
    applyLook(console, options)
    const ofFormats = Object.entries(options).filter(([name]) => Object.hasOwn(formatFlags, name))
    const formatOptions = Object.fromEntries(ofFormats) as Context['formatOptions']
    const { default: act } = await verb!.load()
    const { abortUploads, openPool, speakOfFlags, unfinished } = await import('./library.js')
    speakOfFlags()
    followUnfinished(unfinished, abortUploads)
    const common = readCommon(options)
    let opened: WorkerPool | undefined
    const context: Context = {
      console,
      signal,
      invocation: [version, ...args],
      formatOptions,
      ...common,
      get pool() {
        opened ??= openPool({ threads: common.threads })
        return opened
      },
    }
    status = await act(context, words, options)
  })
  try {
    if (!verb && args.some((arg) => ['--version', '-V', '-v'].includes(arg)))
      await (await loadFormatFacts()).printVersions(console, version)
    else await program.parseAsync(withBareValues(words, flagsOf(verb ?? { flags: {} })), { from: 'user' })
  } catch (error) {
    status = statusOfFailure(error, console)
  }
  console.progress.finish()
  return status
}

/** Completion scripts call this with the words that are typed so far. Help does not list it. */
const completeWord = 'complete'

async function printCompletions(args: readonly string[], console: Console): Promise<Status> {
  const { complete } = await import('./completion/complete.js')
  const isDescribed = args[0] === '--describe'
  const rest = args.slice(isDescribed ? 1 : 0)
  const found = await complete(rest.slice(rest[0] === '--' ? 1 : 0))
  await console.print(found.map(({ word, about }) => (isDescribed && about !== undefined ? `${word}\t${about}` : word)))
  return 0
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

type LookOptions = OptionsOf<typeof commonFlags & typeof tableFlags>

function applyLook(console: Console, { quiet, color, format, columns }: LookOptions): void {
  console.quiet = quiet === true
  if (color !== undefined) console.colorChoice = color
  console.tables = { format, columns }
}

function statusOfFailure(error: unknown, console: Console): Status {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
  if (isClosedPipe(error)) return endAtClosedPipe(console)
  console.complain(describeFailure(error))
  return 2
}
