// Makes the parser of the command line, and all help, from the table of verbs.
import { Argument, Command, InvalidArgumentError, Option } from 'commander'
import { completionScripts, type Shell, shells } from './completion/scripts.js'
import type { Console } from './console/console.js'
import { escapeLines } from './console/escape.js'
import { type Flag, type Flags, longName } from './flags/flag.js'
import { commonFlags, type Flagged } from './flags/shared.js'
import { describeVerb, formatItem, helpFooter, wrapLines } from './help.js'
import { UsageError } from './status.js'
import type { Verb } from './verbs/verb.js'

/** Gets the words that are no flags, and the values of the flags by the names in their tables. */
export type Act = (words: readonly string[], options: Readonly<Record<string, unknown>>) => Promise<void>

/** Where there is no terminal to be as wide as. */
const widthInPipes = 80

const firstExamples = `Examples:
  tare inspect model.gguf
  tare verify -r models/
  tare convert Qwen3-0.6B/ -o qwen3.gguf --quantize q4_k_m`

/** The verbs of `table` in the help of the program; `called` is the one whose words are parsed, or whose help is wanted. */
export function buildProgram(
  version: string,
  table: readonly Verb[],
  called: Verb | undefined,
  console: Console,
  act: Act,
): Command {
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
  for (const verb of table)
    program.addCommand(verb === called ? buildVerb(program, verb, act, width) : listed(program, verb))
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

/** A verb that the help of the program lists. */
const listed = (program: Command, { name, summary, group }: Verb): Command =>
  new Command(name)
    .copyInheritedSettings(program)
    .summary(summary)
    .helpGroup(`${group ?? 'Verbs'}:`)

function buildVerb(program: Command, verb: Verb, act: Act, width: number): Command {
  const command = listed(program, verb)
    .helpOption('-h, --help', 'show this help')
    .addHelpText('after', () => helpFooter(verb, width))
    .showHelpAfterError(`Run \`tare ${verb.name} --help\` for its options.`)
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

/** All flags of a verb. It may give a common flag a further meaning; its own are listed first. */
export function flagsOf(verb: Flagged, ofFormats: Flags = {}): Flags {
  const common = Object.entries(commonFlags).filter(([name]) => !verb.omits?.some((omitted) => omitted === name))
  const own = { ...verb.flags, ...ofFormats }
  return { ...own, ...Object.fromEntries(common), ...own }
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
