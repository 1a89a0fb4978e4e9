import { basename, extname } from 'node:path'
import {
  colorMapNamed,
  type Drawing,
  drawHistogram,
  drawMethods,
  drawPixels,
  drawSvg,
  drawTensor,
  drawTreemap,
  encodePng,
  extractTensor,
  type Finding,
  failWith,
  type Model,
  measureMethods,
  type Tensor,
  tensorStats,
  usageCodes,
  writeLayout,
} from '../../../kit-node.js'
import { escapeName } from '../../console/escape.js'
import { formatSize } from '../../console/format-values.js'
import type { Context } from '../../context.js'
import { damageJson, warnOfDamage } from '../../input/damage.js'
import { forEachModel } from '../../input/run-inputs.js'
import { assertNotInput, markOutputErrors, openGuarded, requireFile } from '../../output/output.js'
import { type Status, UsageError } from '../../status.js'
import type { PictureOptions } from './index.js'

type Kind = NonNullable<PictureOptions['kind']>

export default async function picture(
  context: Context,
  words: readonly string[],
  options: PictureOptions,
): Promise<Status> {
  const { console, signal } = context
  const [given = '', name] = words
  const output = requireFile(options.output)
  const type = extname(output).toLowerCase()
  if (type !== '.png' && type !== '.svg') throw new UsageError('name the output with -o FILE.png or -o FILE.svg')
  const kind = options.kind ?? (name === undefined ? 'treemap' : 'heatmap')
  checkFlags(kind, name, options)
  return forEachModel(context, [given], async (model, input, source) => {
    await assertNotInput(output, [source])
    const { drawing, damage } = await draw(context, model, kind, name, input, options)
    const bytes =
      type === '.png' ? await encodePng(drawPixels(drawing)) : new TextEncoder().encode(await drawSvg(drawing))
    const layout = { name: basename(output), slots: [{ kind: 'bytes' as const, path: 'picture', bytes }] }
    const open = () => openGuarded(output, [source], { overwrite: options.overwrite })
    await markOutputErrors(model, () => writeLayout({ files: [layout] }, open, { signal }))
    const { width, height, description } = drawing
    if (context.json) {
      await console.json({
        file: input,
        format: model.format,
        tensor: name ?? null,
        picture: { kind, width, height, description },
        output: { name: output, size: bytes.byteLength },
        ...damageJson(damage),
      })
    } else
      console.remark(`${escapeName(output)}: ${kind}, ${width} × ${height} pixels, ${formatSize(bytes.byteLength)}`)
    return damage.length > 0 ? 1 : 0
  })
}

/** Flags that a picture has no use for are mistakes. */
function checkFlags(kind: Kind, name: string | undefined, options: PictureOptions): void {
  if (kind === 'treemap' && name !== undefined)
    throw new UsageError('a treemap shows the whole model; leave out the tensor')
  if (kind !== 'treemap' && name === undefined) throw new UsageError(`name the tensor for a ${kind}`)
  const used: Readonly<Record<Kind, readonly string[]>> = {
    heatmap: ['scale', 'colors', 'cells', 'slice'],
    histogram: ['scale', 'slice'],
    methods: ['slice'],
    treemap: [],
  }
  for (const flag of ['scale', 'colors', 'cells', 'slice'] as const)
    if (options[flag] !== undefined && !used[kind].includes(flag))
      throw new UsageError(`--${flag} has no meaning for a ${kind}`)
  if (kind === 'histogram' && options.scale !== undefined && options.scale !== 'log')
    throw new UsageError('the only --scale of a histogram is log')
}

interface Drawn {
  readonly drawing: Drawing
  readonly damage: readonly Finding[]
}

async function draw(
  context: Context,
  model: Model,
  kind: Kind,
  name: string | undefined,
  input: string,
  { size, scale, colors, cells, slice }: PictureOptions,
): Promise<Drawn> {
  if (kind === 'treemap' || name === undefined)
    return { drawing: drawTreemap(model, { size, title: input === '-' ? undefined : basename(input) }), damage: [] }
  const stored = extractTensor(model, name)
  const damage = await warnOfDamage(context, model, [stored])
  const part = slice === undefined ? undefined : extractTensor(model, name, { as: 'f32', slice })
  const tensor: Tensor = part ? { ...part, name: `${name} [${slice}]` } : stored
  const run = { signal: context.signal, onProgress: context.console.progress.update }
  if (kind === 'heatmap') {
    const map = colors === undefined ? undefined : colorMapNamed(colors)
    return { drawing: await drawTensor(tensor, { ...run, size, scale, colors: map, cells }), damage }
  }
  if (kind === 'methods') return { drawing: drawMethods(tensor, await measureMethods(tensor, run), { size }), damage }
  const stats = await tensorStats(tensor, { ...run, bins: bars })
  if (stats.reason !== undefined) failWith(usageCodes['no-codec'], { file: input, path: name, message: stats.reason })
  return { drawing: drawHistogram(tensor, stats, { size, isLog: scale === 'log' }), damage }
}

/** Enough to show the shape, few enough to be told apart. */
const bars = 160
