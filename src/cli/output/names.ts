// What the name of an output says, and what it must not say.
import { basename } from 'node:path'
import { type Format, failWith, formatForOutput, formats, usageCodes } from '../../node.js'
import type { Context } from '../context.js'
import { formatNamed } from '../input/run-inputs.js'
import { UsageError } from '../status.js'

/** For verbs that write files only. */
export function requireFile(output: string | undefined): string {
  if (output === undefined || output === '-') throw new UsageError('say where to with -o FILE')
  return output
}

export function checkStdout({ json }: Context, output: string | undefined): void {
  if (output === '-' && json) throw new UsageError('--json and -o - both want standard output')
}

/** The format that `--to` names or, without it, the name of the output. */
export const formatOfOutput = (output: string | undefined, to: string | undefined): Format | undefined =>
  to === undefined ? formatForOutput(basename(output ?? '')) : formatNamed(to, '--to')

/** Also where only certain models can be written. */
export const isWritable = ({ capabilities }: Format): boolean => !!(capabilities.write ?? capabilities.writeFor)

/** The name of the output says no format; lists what `--to` takes. */
export function unknownOutput(): UsageError {
  const known = formats.filter(isWritable).map((each) => each.id)
  return new UsageError(`the name of the output does not say its format; add --to with one of ${known.join(', ')}`)
}

/** The name of an input without the extension of its format. */
export function stemOf(input: string): string {
  const name = input === '-' ? 'model' : basename(input)
  const extension = formatForOutput(name)?.extensions.find((each) => name.toLowerCase().endsWith(each)) ?? ''
  return name.slice(0, name.length - extension.length) || 'model'
}

/** For verbs that keep the format: an extension of another format would mislead the next reader of the file. */
export function checkOutputName(output: string, format: string): void {
  const named = output === '-' ? undefined : formatForOutput(output)
  if (!named || named.id === format) return
  const message = `the format stays ${format}, but this name says ${named.id}; choose another, or use \`tare convert\``
  failWith(usageCodes.option, { file: output, message })
}
