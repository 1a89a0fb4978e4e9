// The fields of the file as a tree: opening a node asks for what is below it, choosing one goes to its bytes. The node over the cursor is
// marked, so that the tree follows the bytes as well.

import { useState } from 'preact/hooks'
import type { FieldNode } from '../../engine/rooms/bytes/byte-map.js'
import { messageOf } from '../../engine/wire.js'
import { countLabel, hexOffset, sizeLabel } from '../../parts/format.js'
import { visible } from '../../parts/text.js'
import { useAnswer } from '../../parts/use-answer.js'

interface TreeProps {
  readonly model: number
  readonly file: number
  readonly at: number
  readonly onGo: (offset: number, length: number) => void
}

interface LevelProps extends TreeProps {
  readonly parent: string
  readonly depth: number
  readonly from: number
  readonly to: number
}

const step = 200

export function FieldTree({ size, ...rest }: TreeProps & { readonly size: number }) {
  return (
    <nav class="fields" aria-label="Fields">
      <Level {...rest} parent="" depth={0} from={0} to={size} />
    </nav>
  )
}

function Level({ parent, depth, from, to, ...tree }: LevelProps) {
  const { model, file } = tree
  const [count, setCount] = useState(step)
  const { answer, error } = useAnswer('byteTree', { model, file, parent, depth, from, to })
  if (error !== undefined) return <p class="faint">{messageOf(error)}</p>
  if (!answer) return <p class="faint">Reading…</p>
  return (
    <ul>
      {answer.slice(0, count).map((node) => (
        <Node key={node.offset} node={node} depth={depth} {...tree} />
      ))}
      {answer.length > count && (
        <li>
          <button type="button" class="quiet" onClick={() => setCount(count + 5 * step)}>
            {countLabel(answer.length - count)} more
          </button>
        </li>
      )}
    </ul>
  )
}

function Node({ node, depth, ...tree }: TreeProps & { readonly node: FieldNode; readonly depth: number }) {
  const { label, offset, length, kind, value, fields, path } = node
  const holds = tree.at >= offset && tree.at < offset + length
  const [isOpen, setOpen] = useState(false)
  return (
    <li>
      <div class={`node is-${kind}${holds ? ' holds' : ''}`}>
        {fields > 0 ? (
          <button
            type="button"
            class="quiet fold"
            aria-expanded={isOpen}
            aria-label={`${isOpen ? 'Close' : 'Open'} ${visible(label)}`}
            onClick={() => setOpen(!isOpen)}
          >
            {isOpen ? '▾' : '▸'}
          </button>
        ) : (
          <span class="fold" aria-hidden="true" />
        )}
        <button
          type="button"
          class="quiet choose"
          aria-current={holds ? 'true' : undefined}
          title={`${visible(path)} at ${hexOffset(offset)}, ${sizeLabel(length)}`}
          onClick={() => tree.onGo(offset, length)}
        >
          <span class="label">{visible(label)}</span>
          <span class="value">{value === undefined ? sizeLabel(length) : visible(value)}</span>
        </button>
      </div>
      {isOpen && <Level {...tree} parent={path} depth={depth + 1} from={offset} to={offset + length} />}
    </li>
  )
}
