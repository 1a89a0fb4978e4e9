// From the words on the command line to a verb and an exit status. The parser and all help are made from the table of verbs.
import { Argument, Command, CommanderError, InvalidArgumentError, Option } from 'commander'
import type { WorkerPool } from '../kit-node.js'
import { completionScripts, type Shell, shells } from './completion/scripts.js'
import { Console } from './console/console.js'
import { escapeLines } from './console/escape.js'
import {
  describeFailure,
  endAtClosedPipe,
  followUnfinished,
  installLastResort,
  installSignals,
  isClosedPipe,
} from './console/process-events.js'
import type { Context } from './context.js'
import { type Flag, type Flags, longName, type OptionsOf } from './flags/flag.js'
import { type commonFlags, flagsOf, type tableFlags, type threads } from './flags/shared.js'
import { describeVerb, formatItem, helpFooter, wrapLines } from './help.js'
import { type Status, UsageError } from './status.js'
import { verbs } from './verbs/index.js'
import type { CallableVerb, Verb } from './verbs/verb.js'

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
    console.secrets = (await import('../kit-node.js')).secretsOf(args)
  const { verb, formatFlags } = await findVerb(args)
  // `help nosuch` is the same mistake as `nosuch`, and gets the same suggestion.
  const isWrongHelp = args[0] === 'help' && args.length > 1 && !verb
  const isHelpFirst = verb !== undefined && (args[0] === '--help' || args[0] === '-h')
  const words = isWrongHelp ? args.slice(1) : isHelpFirst ? ['help', verb.name] : args
  let status: Status = 0
  const table = verbs.map((each) => (each.name === verb?.name ? verb : each))
  const program = buildProgram(version, table, console, async (words, options) => {
    applyLook(console, options)
    const ofFormats = Object.entries(options).filter(([name]) => Object.hasOwn(formatFlags, name))
    const formatOptions = Object.fromEntries(ofFormats) as Context['formatOptions']
    const { default: act } = await verb!.load()
    const { abortUploads, onUnfinished, openPool, speakOfFlags } = await import('../kit-node.js')
    speakOfFlags()
    followUnfinished(onUnfinished, abortUploads)
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

/** Gets the words that are no flags, and the values of the flags by the names in their tables. */
type Act = (words: readonly string[], options: Readonly<Record<string, unknown>>) => Promise<void>

/** Where there is no terminal to be as wide as. */
const widthInPipes = 80

const firstExamples = `Examples:
  tare inspect model.gguf
  tare verify -r models/
  tare convert Qwen3-0.6B/ -o qwen3.gguf --quantize q4_k_m`

function buildProgram(version: string, table: readonly Verb[], console: Console, act: Act): Command {
  const width = console.isTerminal ? console.width : widthInPipes
  const program = new Command('tare')
    .usage('VERB [options] INPUT...')
    .description(
      'Opens the containers that model weights travel in: shows, checks, hashes and converts them.\n\n' +
        'An INPUT is a path, a directory that holds one model, an http, s3, gs or hf address, or - for standard input.',
    )
    .option('-v, --version', 'print the version; with --verbose also what it runs on')
    .helpOption('-h, --help', 'show this help')
    .commandsGroup('Help:')
    .helpCommand('help [verb]', 'the same as tare VERB --help')
    .configureHelp({
      subcommandTerm: (command) => command.name(),
      commandDescription: (command) => {
        const verb = table.find(({ name }) => name === command.name())
        return verb ? describeVerb(verb) : command.description()
      },
      boxWrap: wrapLines,
      formatItem: (term, termWidth, description) => formatItem(term, termWidth, description, width),
    })
    .exitOverride()
    .configureOutput({
      getOutHelpWidth: () => width,
      getErrHelpWidth: () => width,
      writeOut: (text) => void console.write(text),
      writeErr: (text) => console.writeError(text),
      outputError: (text, write) =>
        // Messages quote the words that were given, and a pattern of the shell makes any file name one of them.
        write(escapeLines(text.replace(/^error: /, 'tare: ').replace('unknown command', 'unknown verb'))),
    })
    .addHelpText(
      'after',
      `\n${firstExamples}\n\nRun \`tare VERB --help\` for the options of a verb and examples.\ntare ${version}`,
    )
  for (const verb of table) program.addCommand(buildVerb(program, verb, act, width))
  program.addCommand(buildCompletion(program, console))
  return program
}

function buildCompletion(program: Command, console: Console): Command {
  return new Command('completion')
    .copyInheritedSettings(program)
    .summary('print the completion script of a shell')
    .description(
      'Print the completion script of a shell. It completes verbs, options, their values and names of tensors.',
    )
    .helpOption('-h, --help', 'show this help')
    .helpGroup('Help:')
    .addArgument(new Argument('<shell>', `the shell: ${shells.join(', ')}`).argParser(shellNamed))
    .showHelpAfterError('Run `tare completion --help` for an example.')
    .addHelpText('after', '\nExamples:\n  eval "$(tare completion bash)"\n      in ~/.bashrc; for zsh in ~/.zshrc')
    .action((shell: Shell) => console.write(completionScripts[shell]))
}

function shellNamed(name: string): Shell {
  const shell = shells.find((each) => each === name)
  if (!shell) throw new InvalidArgumentError(`There are scripts for ${shells.join(', ')}.`)
  return shell
}

function buildVerb(program: Command, verb: Verb, act: Act, width: number): Command {
  const command = new Command(verb.name)
    .copyInheritedSettings(program)
    .summary(verb.summary)
    .helpOption('-h, --help', 'show this help')
    .addHelpText('after', () => helpFooter(verb, width))
    .showHelpAfterError(`Run \`tare ${verb.name} --help\` for its options.`)
    .helpGroup(`${verb.group ?? 'Verbs'}:`)
  for (const { name, description } of verb.arguments) command.addArgument(new Argument(name, description))
  const attributes = new Map<string, string>()
  for (const [name, flag] of Object.entries(flagsOf(verb)))
    for (const [term, about] of flagTerms(name, flag)) {
      const option = buildOption(term, about, flag)
      if (flag.group !== undefined) option.helpGroup(`${flag.group}:`)
      command.addOption(option)
      attributes.set(name, option.attributeName())
    }
  command.action(() => {
    const values = [...attributes].map(([name, attribute]) => [name, command.getOptionValue(attribute)])
    return act(command.args, Object.fromEntries(values.filter(([, value]) => value !== undefined)))
  })
  return command
}

/** How help lists a flag: `-o, --output <file>`. A flag and its negation are two entries. */
export function flagTerms(
  name: string,
  { short, value, description, negated, repeat }: Flag,
): [term: string, about: string][] {
  const long = longName(name)
  const terms: [string, string][] = []
  if (description !== undefined)
    terms.push([
      `${short ? `-${short}, ` : ''}${long}${value ? ` ${value}` : ''}`,
      repeat ? `${description}; can be repeated` : description,
    ])
  if (negated !== undefined) terms.push([long.replace('--', '--no-'), negated])
  return terms
}

function buildOption(term: string, about: string, flag: Flag): Option {
  const option = new Option(term, about)
  const parse = (text: string): unknown => {
    if (flag.choices && !flag.choices.includes(text))
      throw new InvalidArgumentError(`Allowed are ${flag.choices.join(', ')}.`)
    try {
      return flag.parse ? flag.parse(text) : text
    } catch (error) {
      throw error instanceof UsageError ? new InvalidArgumentError(error.message) : error
    }
  }
  if (flag.repeat) return option.argParser((text, before: unknown[] | undefined) => [...(before ?? []), parse(text)])
  return flag.value && !option.negate ? option.argParser(parse) : option
}

/**
 * An optional value must not swallow the input that follows it: in `--allow-loss model.gguf` the next word is the input. It is the value only
 * where it is one of the choices, or the flag accepts it; otherwise what the bare flag means is filled in.
 */
export function withBareValues(args: readonly string[], flags: Flags): string[] {
  const bare = new Map(
    Object.entries(flags).flatMap(([name, flag]) => (flag.bare === undefined ? [] : [[longName(name), flag]])),
  )
  return args.map((arg, index) => {
    const flag = bare.get(arg)
    const next = args[index + 1]
    const isValue = next !== undefined && (flag?.choices?.includes(next) || flag?.accepts?.(next))
    return flag && !isValue ? `${arg}=${flag.bare}` : arg
  })
}
