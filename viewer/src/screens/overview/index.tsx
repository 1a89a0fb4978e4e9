// What a person wants to know first: what it is, how large, where the bytes are, what it says about itself, and whether it is sound.
import type { ScreenProps } from '../../app/screens.js'
import { Command } from '../../parts/command.js'
import { Facts } from './facts.js'
import { MetadataList } from './metadata-list.js'
import { Treemap } from './treemap.js'
import { Verdict } from './verdict.js'
import { VocabularyList } from './vocabulary-list.js'
import './overview.css'

export default function Overview({ model }: ScreenProps) {
  return (
    <div class="overview">
      <Facts model={model} />
      <Treemap model={model} />
      <div class="columns">
        <MetadataList model={model} />
        <div class="stack">
          <Verdict model={model} />
          <VocabularyList model={model} />
          <section>
            <h2>In a terminal</h2>
            <Command words={['tare', 'inspect', model.argument]} />
            <Command words={['tare', 'picture', model.argument, '-o', 'model.png']} />
          </section>
        </div>
      </div>
    </div>
  )
}
