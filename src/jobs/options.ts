// The options of a conversion as JSON, and back. Most of them are plain data; maps become lists of pairs, and numbers that JSON has no words
// for become text.
import type { ConvertOptions, QuantizeSettings, Resolved } from '../convert/plan.js'
import type { OptionValues } from '../model/index.js'

type Pair<K, V> = readonly [key: K, value: V]

type PlainSettings = Pick<
  QuantizeSettings,
  'method' | 'pure' | 'tensorMethod' | 'everyMatrix' | 'domain' | 'requantize' | 'target' | 'mode' | 'codes'
>

/** How tensors are quantized. */
export interface JobQuantization extends PlainSettings {
  readonly methods?: readonly Pair<string, string>[] | undefined
  readonly clip?: Pair<string, string> | undefined
}

const plainKeys = [
  ...(['only', 'exclude', 'rename', 'keepBytes', 'cast', 'dequantize', 'set', 'unset', 'files', 'without'] as const),
  ...(['folder', 'stow', 'asIs', 'preTokenizer', 'keepOrientation', 'dropState', 'dedup', 'shardSize'] as const),
  ...(['align', 'deterministic', 'rewrite', 'name'] as const),
] as const

type PlainOptions = Pick<ConvertOptions, (typeof plainKeys)[number]>

/** What a conversion is asked for, as it stands in a job. */
export interface JobOptions extends PlainOptions {
  readonly renameMap?: readonly Pair<string, string>[] | undefined
  readonly quantize?: JobQuantization | undefined
  readonly extra?: OptionValues | undefined
  /** Which of several merged models counts where they differ. */
  readonly prefer?: 'first' | 'last' | undefined
  /** Tensors called `parameter#statistic` become the state of an optimizer. */
  readonly ownState?: boolean | undefined
}

/** Without what is undefined, so that the same options are the same text. */
export function toJobOptions(options: ConvertOptions, more: Pick<JobOptions, 'prefer' | 'ownState'>): JobOptions {
  const { renameMap, quantize, extra } = options
  return withoutUndefined({
    ...Object.fromEntries(plainKeys.map((key) => [key, options[key]])),
    ...more,
    extra,
    renameMap: renameMap && [...renameMap],
    quantize: quantize && quantizationOf(quantize),
  }) as unknown as JobOptions
}

function quantizationOf(settings: QuantizeSettings): JobQuantization {
  const { method, pure, tensorMethod, everyMatrix, domain, requantize, target, mode, codes, methods, clip } = settings
  return withoutUndefined({
    ...{ method, pure, tensorMethod, everyMatrix, domain, requantize, target, mode, codes },
    methods: methods && [...methods],
    clip: clip && textsOf(clip),
  }) as unknown as JobQuantization
}

export function fromJobOptions(options: JobOptions): ConvertOptions {
  const { renameMap, quantize, prefer, ownState, ...plain } = options
  return {
    ...plain,
    name: plain.name,
    ...(renameMap && { renameMap: new Map(renameMap) }),
    ...(quantize && {
      quantize: {
        ...quantize,
        methods: quantize.methods && new Map(quantize.methods),
        clip: quantize.clip && numbersOf(quantize.clip),
      },
    }),
  }
}

/** `Resolved` as it stands in a job. */
export interface JobFindings {
  readonly methods?: readonly Pair<string, string>[]
  readonly ranges?: readonly Pair<number, Pair<string, string>>[]
  readonly shared?: readonly Pair<number, number>[]
}

export const toFindings = ({ methods, ranges, shared }: Resolved): JobFindings => ({
  ...(methods && { methods: [...methods] }),
  ...(ranges && ranges.size > 0 && { ranges: [...ranges].map(([index, range]) => [index, textsOf(range)] as const) }),
  ...(shared && { shared: [...shared] }),
})

export const fromFindings = ({ methods, ranges, shared }: JobFindings): Resolved => ({
  ...(methods && { methods: new Map(methods) }),
  // Without any, there is none to look for either.
  ranges: new Map((ranges ?? []).map(([index, range]) => [index, numbersOf(range)] as const)),
  ...(shared && { shared: new Map(shared) }),
})

/** Text keeps the sign of zero, infinities and NaN. */
export const textsOf = ([min, max]: readonly [number, number]): Pair<string, string> => [textOf(min), textOf(max)]
const textOf = (value: number): string => (Object.is(value, -0) ? '-0' : String(value))
export const numbersOf = ([min, max]: Pair<string, string>): readonly [number, number] => [Number(min), Number(max)]

export const withoutUndefined = <T extends object>(value: T): T =>
  Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined)) as T
