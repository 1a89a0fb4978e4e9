import { stat } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import {
  type ByteSource,
  type DeltaVersions,
  type Layout,
  layoutDelta,
  layoutPublicDelta,
  type MadeDelta,
  type Model,
  openSpool,
  packDelta,
  pathIn,
  writeLayout,
} from '../../../kit-node.js'
import { escapeName } from '../../console/escape.js'
import { formatSize, plural } from '../../console/format-values.js'
import type { Context } from '../../context.js'
import { checkDamage } from '../../input/damage.js'
import { assertUnchanged, checkStdin, forEachModel } from '../../input/run-inputs.js'
import { assertNotInput, markErrorsOf, openGuarded, requireFile, writingTo } from '../../output/output.js'
import { type Status, UsageError } from '../../status.js'
import type { DeltaVerbOptions } from './index.js'

export default async function delta(
  context: Context,
  inputs: readonly string[],
  options: DeltaVerbOptions,
): Promise<Status> {
  const [base, next, ...more] = inputs
  if (base === undefined || next === undefined || more.length > 0)
    throw new UsageError('delta takes a base and a new model')
  checkStdin(inputs)
  const output = requireFile(options.output)
  const isFolder = /[/\\]$/.test(output) || ((await stat(output).catch(() => undefined))?.isDirectory() ?? false)
  return forEachModel(context, [base], (from, _, fromSource) =>
    forEachModel(context, [next], async (to, _, toSource) => {
      await checkDamage(context, from, {})
      await checkDamage(context, to, {})
      const sides = { base, next, from, to, sources: [fromSource, toSource] }
      return isFolder ? writePublic(context, sides, output, options) : writeOne(context, sides, output, options)
    }),
  )
}

interface Sides {
  readonly base: string
  readonly next: string
  readonly from: Model
  readonly to: Model
  readonly sources: readonly ByteSource[]
}

async function writeOne(context: Context, sides: Sides, output: string, options: DeltaVerbOptions): Promise<Status> {
  if (options.versionName !== undefined || options.baseVersion !== undefined)
    throw new UsageError('--version-name and --base-version are for a directory; end the output with a slash')
  const layoutOf = (made: MadeDelta): Promise<Layout> => layoutDelta(made, basename(output))
  const settings = { planes: options.planes !== 'off', checksum: options.checksum ?? 'blake3' } as const
  return write(context, sides, dirname(output), options, settings, layoutOf)
}

async function writePublic(context: Context, sides: Sides, output: string, options: DeltaVerbOptions): Promise<Status> {
  const versions = versionsOf(output, options)
  const layoutOf = (made: MadeDelta): Promise<Layout> => layoutPublicDelta(made, versions)
  const settings = { planes: options.planes === 'on', checksum: options.checksum ?? 'adler32' } as const
  return write(context, sides, output, options, settings, layoutOf)
}

/** From a name such as `weight_v000007` or `v7`; the base is the version before. */
function versionsOf(output: string, { versionName, baseVersion }: DeltaVerbOptions): DeltaVersions {
  const [, letter = '', digits = '000001'] = /(?:^|_)(v)(\d+)$/.exec(basename(output)) ?? []
  const prefix = /_v\d+$/.test(basename(output)) ? '' : letter
  const before = String(Math.max(0, Number(digits) - 1)).padStart(digits.length, '0')
  return { version: versionName ?? `${prefix}${digits}`, base: baseVersion ?? `${prefix}${before}` }
}

async function write(
  context: Context,
  { base, next, from, to, sources }: Sides,
  directory: string,
  { overwrite, level, rename }: DeltaVerbOptions,
  settings: Pick<NonNullable<Parameters<typeof packDelta>[3]>, 'planes' | 'checksum'>,
  layoutOf: (made: MadeDelta) => Promise<Layout>,
): Promise<Status> {
  const { console, signal } = context
  const spool = await openSpool()
  try {
    const made = await packDelta(from, to, spool, {
      ...settings,
      level,
      rename,
      signal,
      onProgress: console.progress.update,
    })
    await assertUnchanged(sources)
    const layout = await layoutOf(made)
    const outputs = layout.files.map(({ name }) => pathIn(directory, name))
    for (const path of outputs) await assertNotInput(path, sources)
    const open = (name: string) => openGuarded(pathIn(directory, name), sources, { overwrite, signal })
    const written = await markErrorsOf(
      (file) => outputs.includes(file),
      () => writingTo(context, outputs, () => writeLayout(layout, open, { signal })),
    )
    const size = written.reduce((sum, file) => sum + file.size, 0)
    const { counts, beyondPublic } = made
    const encoding = beyondPublic.length === 0 ? 'xor' : 'tare'
    if (context.json)
      await console.json({
        file: base,
        format: from.format,
        other: next,
        ...counts,
        encoding,
        beyondPublic,
        size,
        files: outputs,
      })
    else {
      const share =
        counts.bytes === 0 ? '' : ` (${((100 * size) / counts.bytes).toFixed(2)} % of ${formatSize(counts.bytes)})`
      console.remark(`${escapeName(outputs[0]!)}: ${describe(made)}; ${formatSize(size)}${share}`)
      if (layout.files.length > 1 && beyondPublic.length > 0)
        console.remark(`note: slime and ModelExpress cannot apply it: ${beyondPublic.join(', ')}`)
    }
    return 0
  } finally {
    await spool.close()
  }
}

function describe({ counts: { changed, same, added, renamed, removed } }: MadeDelta): string {
  const further = [
    added > 0 && `${added} new`,
    renamed > 0 && `${renamed} renamed`,
    removed > 0 && `${removed} removed`,
  ].filter(Boolean)
  return [`${plural(changed, 'tensor')} changed, ${same} unchanged`, ...further].join(', ')
}
