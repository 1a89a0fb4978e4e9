import { type Setting, settingOf, TareError } from '../../kit-node.js'
import { UsageError } from '../status.js'

/** What `--set` asks for: keys and values, some with a type. */
export function settingsFrom(set: readonly Setting[]): Setting[] {
  try {
    return set.map(([key, value]) => settingOf(key, value))
  } catch (error) {
    throw error instanceof TareError ? new UsageError(`--set: ${error.finding.message}`) : error
  }
}
