// From the words on the command line to a verb and an exit status. The parser and all help come from the table of verbs.
import { Argument, Command, CommanderError, InvalidArgumentError, Option } from 'commander'
import { Console } from './console/console.js'
import { escapeLines } from './console/escape.js'
import type { RemoteParts } from './input/open-named.js'
import type { OptionRow } from './flags/flag.js'
import { describeFailure, endAtClosedPipe, installLastResort, installSignals, isClosedPipe } from './console/process-events.js'
import { type Status, UsageError } from './status.js'
import { commonOptions } from './flags/shared.js'
import type { Verb } from './verbs/verb.js'
import { verbs } from './verbs/index.js'

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
  let status: Status = 0
  const table = await withRepairs(await withFormatOptions(verbs, args), args)
  const program = buildProgram(version, table, console, async (verb, words, options) => {
    console.configure(options)
    const { default: act } = await verb.load()
    status = await act({ console, signal, ...readCommon(options) }, words, options)
  })
  try {
    const isVersion =
      args.some((arg) => arg === '--version' || arg === '-V') && !verbs.some((verb) => args.includes(verb.name))
    if (isVersion) await (await import('./versions.js')).printVersions(console, version)
    else await program.parseAsync(withDefaults(args, table), { from: 'user' })
  } catch (error) {
    status = statusOfFailure(error, console)
  }
  console.progress.finish()
  return status
}

/** Loads the formats only when the verb that is called takes flags from them. */
async function withFormatOptions(table: readonly Verb[], args: readonly string[]): Promise<readonly Verb[]> {
  const called = table.find((verb) => verb.formatOptions && args.includes(verb.name))
  if (!called) return table
  const { formatOptionRows } = await import('./format-facts.js')
  const rows = formatOptionRows(called.formatOptions!)
  return table.map((verb) => (verb === called ? { ...verb, options: [...verb.options, ...rows] } : verb))
}

/** The same for a verb whose help says what each format can do. */
async function withRepairs(table: readonly Verb[], args: readonly string[]): Promise<readonly Verb[]> {
  const called = table.find((verb) => verb.saysRepairs && args.includes(verb.name))
  if (!called || !args.some((arg) => arg === '--help' || arg === '-h' || arg === 'help')) return table
  const { describeRepairs } = await import('./repairs.js')
  const description = `${called.description ?? called.summary}\n\n${describeRepairs()}`
  return table.map((verb) => (verb === called ? { ...verb, description } : verb))
}

function statusOfFailure(error: unknown, console: Console): Status {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
  if (isClosedPipe(error)) return endAtClosedPipe(console)
  console.complain(describeFailure(error))
  return 2
}

const readCommon = (options: Readonly<Record<string, unknown>>) => ({
  json: options.json === true,
  from: options.from as string | undefined,
  lenient: options.lenient === true,
  remoteParts: options.remoteParts as RemoteParts,
  headers: Object.fromEntries((options.header as [string, string][] | undefined) ?? []),
  cache: options.cache !== false,
  threads: options.threads as number | undefined,
})

type Action = (verb: Verb, words: readonly string[], options: Readonly<Record<string, unknown>>) => Promise<void>

function buildProgram(version: string, table: readonly Verb[], console: Console, action: Action): Command {
  const program = new Command('tare')
    .usage('VERB [options] INPUT...')
    .description(
      'Opens the containers that model weights travel in: shows, checks, hashes and converts them.\n\n' +
        'An INPUT is a path, a directory that holds one model, an http address, or - for standard input.',
    )
    .option('-V, --version', 'print the version; with --verbose also what it runs on')
    .helpOption('-h, --help', 'show this help')
    .helpCommand('help [verb]', 'the same as tare VERB --help')
    .configureHelp({ subcommandTerm: (verb) => verb.name() })
    .commandsGroup('Verbs:')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void console.write(text),
      writeErr: (text) => console.writeError(text),
      outputError: (text, write) =>
        // Words that were given stand in messages about them; a file may be called so that a pattern makes it one.
        write(escapeLines(text.replace(/^error: /, 'tare: ').replace('unknown command', 'unknown verb'))),
    })
    .addHelpText('after', `\nRun \`tare VERB --help\` for the options of a verb and examples.\ntare ${version}`)
  for (const verb of table) program.addCommand(buildVerb(program, verb, action))
  return program
}

function buildVerb(program: Command, verb: Verb, action: Action): Command {
  const command = new Command(verb.name)
    .copyInheritedSettings(program)
    .summary(verb.summary)
    .description(verb.description ?? verb.summary)
    .helpOption('-h, --help', 'show this help')
    .addHelpText('after', `\nExamples:\n${verb.examples.map(([line, what]) => `  ${line}\n      ${what}`).join('\n')}`)
    .showHelpAfterError(`Run \`tare ${verb.name} --help\` for what it takes.`)
  for (const { name, description } of verb.arguments) command.addArgument(new Argument(name, description))
  const own = new Set(verb.options.map(longFlag))
  const common = commonOptions.filter((row) => !own.has(longFlag(row))) // a verb may give one a further meaning
  for (const row of [...verb.options, ...common]) command.addOption(buildOption(row))
  command.action(async () => action(verb, command.args, command.opts()))
  return command
}

const longFlag = ({ flags }: OptionRow): string | undefined => /--[a-z-]+/.exec(flags)?.[0]

function buildOption(row: OptionRow): Option {
  const option = new Option(row.flags, row.description)
  if (row.default !== undefined) option.default(row.default)
  const parse = (value: string): unknown => {
    if (row.choices && !row.choices.includes(value))
      throw new InvalidArgumentError(`Allowed are ${row.choices.join(', ')}.`)
    try {
      return row.parse ? row.parse(value) : value
    } catch (error) {
      throw error instanceof UsageError ? new InvalidArgumentError(error.message) : error
    }
  }
  if (row.repeat) return option.argParser((value, before: unknown[] | undefined) => [...(before ?? []), parse(value)])
  return /[<[]/.test(row.flags) ? option.argParser(parse) : option
}

/**
 * An option whose value may be left out must not swallow the input that follows it: `--allow-loss model.gguf`. It takes the next word
 * only when that is one of its choices.
 */
export function withDefaults(args: readonly string[], table: readonly Verb[] = verbs): string[] {
  const rows = [...table.flatMap(({ options }) => options), ...commonOptions]
  const loose = rows.filter((row) => row.bare !== undefined)
  return args.map((arg, index) => {
    const row = loose.find((each) => each.flags.split(/[ ,]+/).includes(arg))
    const next = args[index + 1]
    const isValue = next !== undefined && (row?.choices?.includes(next) || row?.accepts?.(next))
    return row && !isValue ? `${arg}=${row.bare}` : arg
  })
}
