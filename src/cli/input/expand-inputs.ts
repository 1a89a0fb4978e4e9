// Directories that stand for several models: all of them with --recursive, and pipelines, which have a folder for each of their models.
import { stat } from 'node:fs/promises'
import { findingOf, findModels, ioCodes, isPipeline, isRemote, TareError } from '../../kit-node.js'
import type { Context } from '../context.js'
import type { Status } from '../status.js'
import { reportFailure } from './run-inputs.js'

export interface Expanded {
  readonly inputs: readonly string[]
  /** Some input stands for several models. */
  readonly isSeveral: boolean
  /** Of directories that could not be listed or hold no model. */
  readonly status: Status
}

/** The inputs, with such directories replaced by the models in them. */
export async function expandInputs(
  context: Context,
  inputs: readonly string[],
  { recursive }: { readonly recursive?: boolean },
): Promise<Expanded> {
  const found: string[] = []
  let isSeveral = false
  let status: Status = 0
  for (const input of inputs) {
    if (!(await isDirectory(input)) || !(recursive || (await isPipeline(input)))) {
      found.push(input)
      continue
    }
    isSeveral = true
    try {
      const models = await findModels(input)
      if (models.length === 0)
        throw new TareError(findingOf(ioCodes['empty-directory'], { message: 'there is no model below it' }, input))
      for (const model of models) found.push(model)
    } catch (error) {
      status = await reportFailure(context, input, null, error)
    }
  }
  return { inputs: found, isSeveral, status }
}

async function isDirectory(input: string): Promise<boolean> {
  if (input === '-' || isRemote(input)) return false
  return (await stat(input).catch(() => undefined))?.isDirectory() ?? false
}

export const worse = (a: Status, b: Status): Status => (a > b ? a : b)
