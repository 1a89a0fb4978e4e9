import type { ScreenProps } from '../../app/screens.js'
import { countLabel, shortCount, sizeLabel } from '../../parts/format.js'
import { visible } from '../../parts/text.js'

/** The architecture in one line: llama, 32 layers, 4096 wide, 32 heads (8 for keys and values), context of 131,072 tokens, vocabulary of 32,000. */
function architectureLine({ architecture }: ScreenProps['model']['head']): string {
  if (!architecture) return ''
  const { architecture: name, layers, hidden, heads, kvHeads, context, vocabulary, experts } = architecture
  const many = (count: number, one: string): string => `${countLabel(count)} ${one}${count === 1 ? '' : 's'}`
  const kv = kvHeads !== undefined && kvHeads !== heads ? ` (${kvHeads} for keys and values)` : ''
  return [
    name,
    layers !== undefined && many(layers, 'layer'),
    hidden !== undefined && `${countLabel(hidden)} wide`,
    heads !== undefined && `${many(heads, 'head')}${kv}`,
    experts !== undefined && many(experts, 'expert'),
    context !== undefined && `context of ${many(context, 'token')}`,
    vocabulary !== undefined && `vocabulary of ${countLabel(vocabulary)}`,
  ]
    .filter(Boolean)
    .join(' · ')
}

export function Facts({ model }: ScreenProps) {
  const { head, title } = model
  const format = [head.formatTitle, head.version, head.variant].filter(Boolean).join(' ')
  const facts: readonly (readonly [string, string, string?])[] = [
    ['Parameters', shortCount(head.parameters), countLabel(head.parameters)],
    [
      'Size',
      sizeLabel(head.size),
      `${countLabel(head.size)} bytes in ${countLabel(head.files.length)} ${head.files.length === 1 ? 'file' : 'files'}`,
    ],
    ['Bits per weight', head.bitsPerWeight === null ? '–' : head.bitsPerWeight.toFixed(2)],
    ['Tensors', countLabel(head.tensors)],
    ...(head.kvCache?.bytes === undefined
      ? []
      : [['KV cache', sizeLabel(head.kvCache.bytes), 'for the whole context, 16 bits per value'] as const]),
  ]
  return (
    <section class="facts">
      <h1>{visible(title)}</h1>
      <p class="lead">{visible([format, architectureLine(head)].filter(Boolean).join(' · '))}</p>
      <dl>
        {facts.map(([name, value, detail]) => (
          <div key={name} title={detail}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  )
}
