// The files that the `general.*` entries come from: the head of README.md, and generation_config.json.
import { stringify } from 'yaml'
import type { Metadata } from '../../model/index.js'
import type { Config } from '../family.js'
import { factKeys, hub, originKeys, originOf, samplingKeys } from '../general/general.js'
import { listAt, numberAt, plainValue, textAt } from './entries.js'

/** What the name of the directory would tell, unless the card says something else; nothing at all is said with an empty text. */
const fromName = ['name', 'version', 'organization', 'finetune', 'basename', 'size_label']

/** `parameters`: how many weights the model has, which tells names apart. */
export function modelCard(metadata: Metadata, parameters: number, file: string): string {
  const facts = factKeys.flatMap(([key, fact]): [string, string][] => {
    const value = textAt(metadata, `general.${key}`) ?? (fromName.includes(fact) ? '' : undefined)
    return value === undefined ? [] : [[fact, value]]
  })
  const lists = { tags: 'general.tags', language: 'general.languages' }
  const head: Config = {
    ...Object.fromEntries(facts),
    ...originsIn(metadata, 'base_model', 'base_model', parameters),
    ...originsIn(metadata, 'dataset', 'datasets', parameters),
    ...Object.fromEntries(
      Object.entries(lists).flatMap(([name, key]) => {
        const list = listAt(metadata, key, 'string', file)
        return list ? [[name, list]] : []
      }),
    ),
  }
  const title = (textAt(metadata, 'general.name') ?? '').replace(/\s+/g, ' ')
  // Readers of cards follow the older version of YAML, in which more texts have to be quoted.
  const yaml = stringify(head, { version: '1.1', lineWidth: 0 })
  return `---\n${yaml}---\n${title === '' ? '' : `\n# ${title}\n`}`
}

/** As identifiers of the hub, as far as these tell the same, else as what is known of each. */
function originsIn(metadata: Metadata, kind: string, name: string, parameters: number): Config {
  const count = numberAt(metadata, `general.${kind}.count`)
  if (count === undefined || !Number.isInteger(count) || count < 0 || count > maxOrigins) return {}
  const origins = Array.from({ length: count }, (_, i) => {
    const stated = Object.fromEntries(
      originKeys.flatMap((key) => {
        const value = textAt(metadata, `general.${kind}.${i}.${key}`)
        return value === undefined ? [] : [[key, value]]
      }),
    )
    const url = stated.repo_url ?? ''
    const ids = [url.startsWith(hub) ? url.slice(hub.length) : url, stated.name ?? '']
    const isTold = (id: string): boolean => {
      const told: Config = id === '' ? {} : originOf(id, parameters)
      return originKeys.every((key) => (told[key] ?? undefined) === stated[key])
    }
    return ids.find((id) => id !== '' && isTold(id)) ?? stated
  })
  return { [name]: origins }
}

const maxOrigins = 1000

/** Undefined where there is nothing to say. */
export function generationConfig(metadata: Metadata, settings: Config): Config | undefined {
  const sampling = samplingKeys.flatMap(([key, name]): [string, unknown][] => {
    const value = plainValue(metadata.get(`general.sampling.${key}`))
    return value === undefined ? [] : [[name, value]]
  })
  const sequence = textAt(metadata, 'general.sampling.sequence')
  if (sampling.length === 0 && sequence === undefined) return undefined
  const ids = Object.entries(settings).filter(([key]) => key.endsWith('_token_id'))
  return {
    ...Object.fromEntries(ids),
    do_sample: true,
    ...Object.fromEntries(sampling),
    ...(sequence !== undefined && { sequence }),
  }
}
