// Findings as a list: what is wrong, where, and a way to the bytes.
import type { Finding } from 'tare'
import { goTo } from '../state/location.js'
import { hexOffset } from './format.js'
import { visible } from './text.js'

interface FindingProps {
  readonly finding: Finding
  readonly canJump?: boolean
  /** It stands below a title that says its code and how bad it is. */
  readonly isGrouped?: boolean
}

export function FindingItem({ finding, canJump = true, isGrouped = false }: FindingProps) {
  const { severity, code, message, offset, path } = finding
  return (
    <li class={`finding ${isGrouped ? 'grouped' : severity}`}>
      {!isGrouped && <span class="severity">{severity}</span>}
      <div>
        <p>{visible(message)}</p>
        <p class="faint">
          {!isGrouped && <code>{code}</code>}
          {offset !== undefined && (
            <>
              {isGrouped ? 'at ' : ' at '}
              {canJump ? (
                <button type="button" class="link" onClick={() => goTo('bytes', undefined, { at: hexOffset(offset) })}>
                  {hexOffset(offset)}
                </button>
              ) : (
                <code>{hexOffset(offset)}</code>
              )}
            </>
          )}
          {path && <> in {visible(path)}</>}
        </p>
      </div>
    </li>
  )
}

export function FindingList({ findings, max = 100 }: { readonly findings: readonly Finding[]; readonly max?: number }) {
  return (
    <ul class="findings">
      {findings.slice(0, max).map((finding, i) => (
        <FindingItem key={`${i} ${finding.code}`} finding={finding} />
      ))}
      {findings.length > max && <li class="faint">{findings.length - max} more</li>}
    </ul>
  )
}
