// The colours of a level. Means vary less than the values they are made of, so that a scale for values would show an overview in one colour. Between the
// values and the overview, whose moments are both known, the others follow a power law: the same view has the same colours, whatever was loaded
// before it.
import { type Moments, momentsOf, type Scale, type ScaleKind, scaleFor } from 'tare/kit'

export interface Known {
  readonly level: number
  readonly moments: Moments
}

export function momentsAt(
  level: number,
  values: Moments | undefined,
  overview: Known | undefined,
): Moments | undefined {
  if (!values || level === 0) return values ?? overview?.moments
  if (!overview || overview.level === 0) return overview?.moments ?? values
  const share = Math.min(1, level / overview.level)
  const { moments: far } = overview
  const power = (a: number, b: number): number => (a > 0 && b > 0 ? a * (b / a) ** share : a + (b - a) * share)
  return {
    min: values.min + (far.min - values.min) * share,
    max: values.max + (far.max - values.max) * share,
    mean: values.mean,
    std: power(values.std, far.std),
  }
}

export const scaleAt = (
  kind: ScaleKind,
  level: number,
  values: Moments | undefined,
  overview: Known | undefined,
  sigmas: number,
): Scale => scaleFor(kind, momentsAt(level, values, overview) ?? momentsOf([]), sigmas)
