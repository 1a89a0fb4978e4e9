// What a benchmark reports. A row has the work, the figure of tare and that of the yardstick, their ratio (above 1: tare needs less), the
// goal and whether it is met, and the peak memory, which has a limit too.

/** For all rows that have no lower limit of their own. */
export const memoryLimit = 300e6

/**
 * `goal`: the minimum ratio, or an object with `text` and `met`. `bytes` or `count` (with `items`) give a rate. `unit` is seconds unless
 * the figures are something else.
 */
export function row(work, { tare, yardstick, memory }, options = {}) {
  const { against, goal, unit = 's', limit = memoryLimit, ...rest } = options
  const ratio = yardstick === undefined ? undefined : yardstick / tare
  const judged = typeof goal === 'number' ? { text: `≥ ${shortNumber(goal)}`, met: ratio >= goal } : goal
  return {
    work,
    unit,
    tare,
    against,
    yardstick,
    ratio,
    goal: judged?.text,
    met: judged?.met,
    memory,
    limit,
    memoryMet: memory <= limit,
    ...rest,
  }
}

/** Where the goal is the figure itself: at most this much. */
export function limitRow(work, { tare, memory }, { max, unit = 's', ...options }) {
  const goal = { text: `≤ ${formatFigure(max, unit)}`, met: tare <= max }
  return row(work, { tare, memory, yardstick: options.yardstick }, { unit, ...options, goal })
}

/** What could not be measured here, and why. */
export const skipped = (work, against, reason) => ({ work, against, skipped: reason })

/** The same work at growing sizes: the cost per byte, tensor or file against that of the size before. */
export function growthRows(work, measured, { per, name, ...options }) {
  return measured.map((each, i) => {
    const smaller = measured[i - 1]
    const factor = smaller && (per === 'file' ? 1 : each.size / smaller.size)
    const times = { tare: each.seconds, yardstick: smaller && smaller.seconds * factor, memory: each.memory }
    const rate = per === 'byte' ? { bytes: each.size } : per === 'tensor' ? { count: each.size, items: 'tensors' } : {}
    const place = { series: work, at: name(each.size) }
    const flat = smaller && { against: `per ${per} at ${name(smaller.size)}`, goal: flatGoal }
    return row(`${work}, ${name(each.size)}`, times, { ...place, ...flat, ...rate, ...options })
  })
}

/** Flat: no more than half as much again. */
const flatGoal = 1 / 1.5

export function formatFigure(value, unit) {
  if (unit === 'error') return value.toPrecision(4)
  if (unit !== 's') return `${value.toLocaleString('en')} ${value === 1 ? unit.replace(/s$/, '') : unit}`
  if (value < 1e-3) return `${shortNumber(value * 1e6)} µs`
  return value < 1 ? `${shortNumber(value * 1e3)} ms` : `${shortNumber(value)} s`
}

export const formatMemory = (bytes) => `${Math.round(bytes / 1e6)} MB`

/** Bytes or items per second; undefined where the row has neither. */
export function formatRate({ bytes, count, items, tare }) {
  if (bytes) return `${shortNumber(bytes / tare / 1e9)} GB/s`
  if (!count) return undefined
  const rate = count / tare
  return rate >= 1e6 ? `${shortNumber(rate / 1e6)} M ${items}/s` : `${Math.round(rate).toLocaleString('en')} ${items}/s`
}

/** Three digits are more than a benchmark knows. */
export const shortNumber = (value) =>
  value >= 100 ? Math.round(value).toLocaleString('en') : String(Number(value.toPrecision(value >= 1 ? 3 : 2)))

/** One line of text. */
export function formatRow(each) {
  const work = each.work.padEnd(52)
  if (each.skipped) return `${work} skipped: ${each.skipped} (${each.against})`
  const rate = formatRate(each)
  const parts = [formatFigure(each.tare, each.unit) + (rate ? ` (${rate})` : '')]
  if (each.yardstick !== undefined) {
    parts.push(`${each.against}: ${formatFigure(each.yardstick, each.unit)}`, `ratio ${shortNumber(each.ratio)}`)
  }
  if (each.goal) parts.push(`goal ${each.goal}${verdict(each.met)}`)
  if (each.memory)
    parts.push(
      `peak ${formatMemory(each.memory)}${each.memoryMet ? '' : ` (limit ${formatMemory(each.limit)}, MISSED)`}`,
    )
  if (each.note) parts.push(each.note)
  return `${work} ${parts.join('  ')}`
}

const verdict = (met) => (met === undefined ? '' : met ? ', met' : ', MISSED')
