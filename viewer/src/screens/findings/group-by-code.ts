import type { Finding } from 'tare'

export interface GroupedFindings {
  readonly code: string
  readonly severity: Finding['severity']
  readonly findings: readonly Finding[]
}

const order: readonly Finding['severity'][] = ['error', 'warning', 'note']

/** Errors first, then by the order in which they were found. */
export function groupByCode(findings: readonly Finding[]): GroupedFindings[] {
  const groups = new Map<string, { code: string; severity: Finding['severity']; findings: Finding[] }>()
  for (const finding of findings) {
    const { code, severity } = finding
    const key = `${severity} ${code}`
    const group = groups.get(key) ?? { code, severity, findings: [] }
    group.findings.push(finding)
    groups.set(key, group)
  }
  return [...groups.values()].sort((a, b) => order.indexOf(a.severity) - order.indexOf(b.severity))
}
