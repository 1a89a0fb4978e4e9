// The man pages, from the same tables as help: tare(1), and one page for each verb.
import { readFileSync } from 'node:fs'
import { completionScripts } from '../dist/cli/completion/scripts.js'
import { describeRepairs, formatFlags } from '../dist/cli/format-facts.js'
import { describeVerb, exitStatus } from '../dist/cli/help.js'
import { flagsOf, flagTerms } from '../dist/cli/parser.js'
import { verbs } from '../dist/cli/verbs/index.js'

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))

/** The pages by the paths of their files. */
export const manPages = () =>
  Object.fromEntries([
    ['docs/man/tare.1', mainPage()],
    ...verbs.map((verb) => [`docs/man/tare-${verb.name}.1`, verbPage(verb)]),
  ])

function mainPage() {
  return page('tare', 'open, verify, inspect and convert the containers that model weights travel in', [
    section('Synopsis', [bold('tare'), ' ', italic('verb'), ' [', italic('options'), '] ', italic('input'), ' ...']),
    section('Description', [
      paragraphs(
        'Shows what is inside a file of model weights, proves that nothing is damaged, and writes the model into any other container, quantized on request. ' +
          'What a conversion would lose is named before anything is written.\n\n' +
          'An input is a path, a directory that holds one model, an http address, or - for standard input. The format is detected from the bytes, not from the name.',
      ),
    ]),
    section('Verbs', [
      verbs.map(({ name, summary }) => entry(`${bold(`tare-${name}`)}(1)`, sentence(summary))).join(''),
    ]),
    section('Other commands', [
      entry(
        `${bold('tare completion')} ${italic(Object.keys(completionScripts).join('|'))}`,
        'Print the completion script of a shell. For bash and zsh put eval "$(tare completion bash)" into ~/.bashrc or ~/.zshrc, with the name of the shell; for fish run: tare completion fish > ~/.config/fish/completions/tare.fish',
      ),
      entry(`${bold('tare help')} ${italic('verb')}`, 'Print the help of a verb.'),
      entry(`${bold('tare --version')}`, 'Print the version; with --verbose also what it runs on.'),
    ]),
    section('Exit status', [
      statuses(exitStatus({ no: 'a check fails, or the input is damaged' })),
      paragraphs('\nThe page of each verb says what "no" means for it.'),
    ]),
    section('Environment', [
      environment()
        .map(([name, effect]) => entry(bold(name), sentence(effect)))
        .join(''),
    ]),
    section('See also', verbs.map(({ name }) => `${bold(`tare-${name}`)}(1)`).join(', ')),
  ])
}

function verbPage(verb) {
  const description = verb.saysRepairs ? `${describeVerb(verb)}\n\n${describeRepairs()}` : describeVerb(verb)
  const flags = flagsOf(verb, verb.formatOptions && formatFlags(verb.formatOptions))
  const groups = groupsOf(flags)
  const daily = groups.get('') ?? []
  const others = [...groups].filter(([name]) => name !== '')
  return page(`tare-${verb.name}`, verb.summary, [
    section('Synopsis', [
      `${bold(`tare ${verb.name}`)} [${italic('options')}] `,
      verb.arguments.map(({ name }) => italic(synopsisOf(name))).join(' '),
    ]),
    section('Description', [paragraphs(description)]),
    section('Arguments', [
      verb.arguments.map(({ name, description }) => entry(italic(bare(name)), sentence(description))).join(''),
    ]),
    section('Options', [
      daily.map(option).join(''),
      entry(`${bold('\\-h')}, ${bold('\\-\\-help')}`, 'Show the help.'),
      ...others.map(([name, entries]) => `.SS ${escapeRoff(name)}\n${entries.map(option).join('')}`),
    ]),
    section('Examples', [
      verb.examples.map(([line, what]) => `.PP\n${text(sentence(what))}\n.PP\n.nf\n.RS 4\n${text(line)}\n.RE\n.fi\n`),
    ]),
    section('Exit status', [statuses(exitStatus(verb))]),
    section('See also', `${bold('tare')}(1)`),
  ])
}

/** The flags by the headings under which help lists them; those of daily use have none. */
function groupsOf(flags) {
  const groups = new Map()
  for (const [name, flag] of Object.entries(flags))
    groups.set(flag.group ?? '', [...(groups.get(flag.group ?? '') ?? []), [name, flag]])
  return groups
}

const option = ([name, flag]) =>
  flagTerms(name, flag)
    .map(([term, about]) => {
      const [, words, value] = /^([^<[]*?)(?: ([<[].*))?$/.exec(term)
      return entry(`${bold(escapeRoff(words))}${value ? ` ${escapeRoff(value)}` : ''}`, sentence(about))
    })
    .join('')

const statuses = (rows) => rows.map(([status, meaning]) => entry(bold(status), sentence(meaning))).join('')

/** The variables in the table of docs/environment.md. */
const environment = () =>
  readFileSync(new URL('../docs/environment.md', import.meta.url), 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) => line.split('|').slice(1, 3))
    .map(([name, effect]) => [name.replaceAll('`', '').trim(), effect.replaceAll('`', '').trim()])

// The little of roff that the pages need.

function page(name, summary, sections) {
  const head = `.\\" Generated by \`npm run docs\`.\n.TH ${name.toUpperCase()} 1 "" "tare ${version}" "tare manual"\n`
  return `${head}.SH NAME\n${escapeRoff(name)} \\- ${escapeRoff(summary)}\n${sections.join('')}`
}

function section(title, parts) {
  const body = [parts].flat(2).join('')
  return `.SH ${title.toUpperCase()}\n${body.endsWith('\n') ? body : `${body}\n`}`
}

const entry = (term, about) => `.TP\n${term}\n${text(about)}\n`
const bold = (words) => `\\fB${words}\\fR`
const italic = (words) => `\\fI${words}\\fR`
const bare = (name) => name.replace(/[<>[\].]/g, '')
const synopsisOf = (name) =>
  `${name.startsWith('[') ? '[' : ''}${bare(name)}${name.startsWith('[') ? ']' : ''}${name.includes('...') ? ' ...' : ''}`
const sentence = (words) => `${words[0].toUpperCase()}${words.slice(1)}${/[.…]$/.test(words) ? '' : '.'}`

/** Blank lines separate paragraphs; indented lines are items of a list. */
const paragraphs = (words) =>
  words
    .split('\n')
    .map((line) =>
      line === '' ? '.PP\n' : line.startsWith('  ') ? `.IP \\(bu 2\n${text(line.trim())}\n` : `${text(line)}\n`,
    )
    .join('')

const escapeRoff = (words) =>
  words
    .replaceAll('\\', '\\e')
    .replaceAll('-', '\\-')
    .replace(/[^\x20-\x7e\n]/gu, (other) => `\\[u${other.codePointAt(0).toString(16).toUpperCase().padStart(4, '0')}]`)

/** Lines that begin with a dot or an apostrophe would be requests. */
const text = (words) => escapeRoff(words).replace(/^[.']/gm, '\\&$&')
