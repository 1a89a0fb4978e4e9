// Checks of several files at the same time, so that threads have work while one file has only a single long digest left. What the checks
// find is reported in their order, as if one had waited for the other.
import { collectingReport, type Finding, TareError } from '../../../errors/index.js'
import type { CheckContext } from '../../../model/index.js'

export type Check = (context: CheckContext) => Promise<void>

export async function checkTogether(checks: readonly Check[], context: CheckContext): Promise<void> {
  const atOnce = context.pool?.threads ?? 1
  if (atOnce === 1) {
    for (const check of checks) await check(context)
    return
  }
  const findings = checks.map((): Finding[] => [])
  const errors = new Map<number, unknown>()
  let next = 0
  const work = async (): Promise<void> => {
    while (next < checks.length && errors.size === 0) {
      const i = next++
      const report = collectingReport(context.report.file, findings[i]!)
      await checks[i]!({ ...context, report }).catch((error: unknown) => errors.set(i, error))
    }
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  for (const i of checks.keys()) {
    const error = errors.get(i)
    const thrown = error instanceof TareError ? error.finding : undefined
    for (const finding of findings[i]!) if (finding !== thrown) repeat(finding, context)
    if (errors.has(i)) throw error
  }
}

function repeat(finding: Finding, { report }: CheckContext): void {
  const { code, severity, message } = finding
  report.forFile(finding.file).report({ code, severity, text: message }, finding)
}
