// What a plan says is what happens, over every file that there is of two formats: a plan without loss gives a model in which `diff` finds
// nothing, and brings back the very bytes; content that a plan calls lost is missed by `diff`. Whatever opens has no errors, and neither has
// whatever is written.
import { describe, expect, it } from 'vitest'
import { diffModels } from '../../src/diff/index.js'
import {
  type Format,
  formats,
  type Model,
  openModel,
  type Plan,
  planConversion,
  stowageKey,
  TareError,
  text,
  verifySource,
} from '../../src/index.js'
import { convertToFiles, sourceOf } from '../support/convert.js'
import { fixtureSource, presentCases } from '../support/fixtures.js'

const writable = formats.filter((format) => format.layout)
const homes = ['oinf', 'primitiv']
/** Codes that stand for no value, or for a NaN of their own, in types that few formats have. */
const hasStrayCodes = /f8_all|f8_over|special_floats|bool_byte|tail_dirty|minus_two/

type Files = ReadonlyMap<string, Uint8Array>

interface Converted {
  readonly plan: Plan
  readonly files: Files
}

/** Undefined where the target refuses, which it does in so many words. */
async function convert(model: Model, target: string, name: string, stow = true): Promise<Converted | undefined> {
  const options = { name, stow, deterministic: true }
  try {
    const { plan } = await planConversion(model, target, options)
    return { plan, files: await convertToFiles(model, target, options) }
  } catch (error) {
    expect(error).toBeInstanceOf(TareError)
    return undefined
  }
}

async function errorsOf(files: Files, from: string): Promise<readonly string[]> {
  const { findings } = await verifySource(sourceOf(files), { from })
  return findings.filter(({ severity }) => severity === 'error').map(({ message }) => message)
}

const isSame = (a: Files, b: Files): boolean =>
  a.size === b.size && [...a].every(([name, bytes]) => b.has(name) && Buffer.compare(bytes, b.get(name)!) === 0)

/** A file with room for one tensor has none for its name: its own stands for it. */
function nameFor({ capabilities, extensions }: Format, model: Model): string {
  const stem = capabilities.write?.mostTensors === 1 ? (model.tensors.at(0)?.name ?? 'm') : 'm'
  return `${stem}${extensions[0]}`
}

const isRoomy = ({ capabilities }: Format): boolean => capabilities.write!.metadata(stowageKey, text('{}')).fits

describe.each(homes)('files of %s', (home) => {
  const files = presentCases(home).map(({ file }) => file)

  it.each(files)('%s opens exactly when it has no errors', async (file) => {
    const opened = await openModel(fixtureSource(home, file), { from: home }).catch(() => undefined)
    const { findings } = await verifySource(fixtureSource(home, file), { from: home })
    expect(findings.some(({ severity }) => severity === 'error')).toBe(opened === undefined)
  })

  it.each(files.filter((file) => !hasStrayCodes.test(file)))('%s goes as its plans say', async (file) => {
    const opened = await openModel(fixtureSource(home, file), { from: home }).catch(() => undefined)
    if (!opened) return // refused: the test above has looked at it
    const name = `m${file.slice(file.lastIndexOf('.'))}`
    const written = (await convert(opened, home, name))!
    const model = await openModel(sourceOf(written.files), { from: home })
    for (const away of writable) {
      for (const stow of [true, false]) {
        const where = `${away.id}${stow ? '' : ' without stowage'}`
        const there = await convert(model, away.id, away.id === home ? name : nameFor(away, model), stow)
        if (!there) continue
        const { loss } = there.plan
        const carried = await openModel(sourceOf(there.files), { from: away.id })
        expect(await errorsOf(there.files, away.id), where).toEqual([])
        const { equal } = await diffModels(model, carried)
        if (loss !== 'form') expect(equal, `${where}: loss ${loss}`).toBe(loss === 'none')
        if (loss !== 'none' || !stow || !isRoomy(away)) continue
        const back = await convert(carried, home, name)
        expect(back?.plan.loss, where).toBe('none')
        expect(isSame(back!.files, written.files), where).toBe(true)
      }
    }
  })
})
