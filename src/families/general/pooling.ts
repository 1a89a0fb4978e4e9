// Sentence embedders say in modules.json how the vectors of a text's tokens become one.
import { failWith } from '../../errors/index.js'
import { familyCodes } from '../codes.js'
import type { ModelDirectory } from '../directory.js'
import { isObject } from '../facts.js'
import type { Config } from '../family.js'

const modes = { mean: 1, cls: 2, lasttoken: 3 } as const
const flags = { pooling_mode_mean_tokens: 1, pooling_mode_cls_token: 2, pooling_mode_lasttoken: 3 } as const

/** By the number that GGUF has for it; undefined for models that are not embedders. */
export async function poolingOf(directory: ModelDirectory): Promise<number | undefined> {
  const modules = await directory.value('modules.json')
  if (!Array.isArray(modules)) return undefined
  const module = modules.find(
    (each) => isObject(each) && typeof each.type === 'string' && each.type.endsWith('Pooling'),
  )
  if (!isObject(module) || typeof module.path !== 'string') return undefined
  const path = `${module.path}/config.json`
  const config = await directory.json(path)
  if (!config) directory.fail(path, 'modules.json names it, and it is not there')
  for (const [flag, pooling] of Object.entries(flags)) if (config[flag]) return pooling
  const mode = String(config.pooling_mode)
  if (Object.hasOwn(modes, mode)) return modes[mode as keyof typeof modes]
  const message = 'neither the mean, nor the first, nor the last vector is taken; llama.cpp knows no other way'
  return failWith(familyCodes['config-value'], { file: directory.pathOf(path), path: 'pooling_mode', message })
}

/** The files that say so. */
export function poolingFiles(
  pooling: number | undefined,
  config: Config,
): [name: string, content: Config | readonly Config[]][] {
  const flag = Object.entries(flags).find(([, number]) => number === pooling)?.[0]
  if (flag === undefined) return []
  const module = (idx: number, path: string, type: string): Config => ({
    idx,
    name: String(idx),
    path,
    type: `sentence_transformers.models.${type}`,
  })
  const folder = '1_Pooling'
  return [
    ['modules.json', [module(0, '', 'Transformer'), module(1, folder, 'Pooling')]],
    [
      `${folder}/config.json`,
      {
        word_embedding_dimension: config.hidden_size ?? config.n_embd ?? config.dim,
        ...Object.fromEntries(Object.keys(flags).map((each) => [each, each === flag])),
      },
    ],
  ]
}
