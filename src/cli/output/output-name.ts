// What the name of an output is made of, and what it says.
import { basename } from 'node:path'
import { failWith, formatForOutput, usageCodes } from '../../node.js'

/** The input's name without what says its format. */
export function stemOf(input: string): string {
  const name = input === '-' ? 'model' : basename(input)
  const extension = formatForOutput(name)?.extensions.find((each) => name.toLowerCase().endsWith(each)) ?? ''
  return name.slice(0, name.length - extension.length) || 'model'
}

/** For verbs that keep the format: a file whose name says another one would mislead whoever opens it next. */
export function checkOutputName(output: string, format: string): void {
  const named = output === '-' ? undefined : formatForOutput(output)
  if (!named || named.id === format) return
  const message = `the format stays ${format}, but this name says ${named.id}; choose another, or use \`tare convert\``
  failWith(usageCodes.option, { file: output, message })
}
