// The parser and all help, made from the table of verbs.
import { Argument, Command, InvalidArgumentError, Option } from 'commander'
import type { Console } from './console/console.js'
import { escapeLines } from './console/escape.js'
import type { Flag, Flags } from './flags/flag.js'
import { commonFlags } from './flags/shared.js'
import { UsageError } from './status.js'
import type { Verb } from './verbs/verb.js'

/** Gets the words that are no flags, and the values of the flags by the names in their tables. */
type Act = (words: readonly string[], options: Readonly<Record<string, unknown>>) => Promise<void>

export function buildProgram(version: string, verbs: readonly Verb[], console: Console, act: Act): Command {
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
        // Messages quote the words that were given, and a pattern of the shell makes any file name one of them.
        write(escapeLines(text.replace(/^error: /, 'tare: ').replace('unknown command', 'unknown verb'))),
    })
    .addHelpText('after', `\nRun \`tare VERB --help\` for the options of a verb and examples.\ntare ${version}`)
  for (const verb of verbs) program.addCommand(buildVerb(program, verb, act))
  return program
}

function buildVerb(program: Command, verb: Verb, act: Act): Command {
  const command = new Command(verb.name)
    .copyInheritedSettings(program)
    .summary(verb.summary)
    .description(verb.description ?? verb.summary)
    .helpOption('-h, --help', 'show this help')
    .addHelpText('after', `\nExamples:\n${verb.examples.map(([line, what]) => `  ${line}\n      ${what}`).join('\n')}`)
    .showHelpAfterError(`Run \`tare ${verb.name} --help\` for what it takes.`)
  for (const { name, description } of verb.arguments) command.addArgument(new Argument(name, description))
  // A verb may give a common flag a further meaning; its own flags are listed first.
  const flags: Flags = { ...verb.flags, ...commonFlags, ...verb.flags }
  const attributes = new Map<string, string>()
  for (const [name, flag] of Object.entries(flags))
    for (const [term, about] of flagTerms(name, flag)) {
      const option = buildOption(term, about, flag)
      command.addOption(option)
      attributes.set(name, option.attributeName())
    }
  command.action(() => {
    const values = [...attributes].map(([name, attribute]) => [name, command.getOptionValue(attribute)])
    return act(command.args, Object.fromEntries(values.filter(([, value]) => value !== undefined)))
  })
  return command
}

/** `--dry-run` for `dryRun`. */
export const longName = (name: string): string => `--${name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`

/** How help lists a flag: `-o, --output <file>`. A flag and its negation are two entries. */
export function flagTerms(name: string, { short, value, description, negated }: Flag): [term: string, about: string][] {
  const long = longName(name)
  const terms: [string, string][] = []
  if (description !== undefined)
    terms.push([`${short ? `-${short}, ` : ''}${long}${value ? ` ${value}` : ''}`, description])
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
