// The frame around every screen: which model, which section, and the screen itself.

import type { ComponentType } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { messageOf } from '../engine/wire.js'
import { FindingItem } from '../parts/findings.js'
import { visible, visibleName } from '../parts/text.js'
import { Drop } from '../screens/drop/index.js'
import { formatAddress } from '../state/address.js'
import { announcement, notice } from '../state/announce.js'
import { address, go } from '../state/location.js'
import { currentModel, models, type OpenedModel, removeModel } from '../state/models.js'
import { nextTheme, theme } from '../state/theme.js'
import { Help, showHelp } from './help.js'
import { type ScreenProps, screenNamed, screens } from './screens.js'

export function Shell() {
  const model = currentModel.value
  const { screen, subject } = address.value
  useEffect(() => {
    const place = model && isThere(model) ? [subject, screenNamed(screen)?.title, model.title] : []
    document.title = [...place.filter((part) => part !== undefined).map(visibleName), 'tare'].join(' · ')
  }, [model, screen, subject])
  useEffect(() => window.scrollTo(0, 0), [model?.id, screen])
  return (
    <>
      <a class="skip" href="#main">
        Skip to the content
      </a>
      <header class="bar">
        <a class="brand" href="#/" aria-label="tare: open a model">
          tare
        </a>
        <ModelChoice />
        <nav aria-label="Sections">{model && isThere(model) && <Sections model={model} />}</nav>
        <div class="tools">
          <button type="button" class="quiet" title={`Theme: ${theme.value} (t)`} onClick={nextTheme}>
            <span class="where-wide">Theme: </span>
            {{ system: 'auto', light: 'light', dark: 'dark' }[theme.value]}
          </button>
          <button type="button" class="quiet" title="Keys (?)" onClick={showHelp}>
            Keys
          </button>
        </div>
      </header>
      <main id="main" tabIndex={-1}>
        <Content model={model} />
      </main>
      <Help />
      <output class="spoken" aria-live="polite">
        {announcement.value}
      </output>
      {notice.value && <p class="notice">{notice.value.text}</p>}
    </>
  )
}

function ModelChoice() {
  const there = models.value.filter(({ status }) => status !== 'closed')
  if (there.length === 0) return null
  const choose = (value: string): void =>
    go(value === '' ? { screen: 'drop', query: {} } : { model: Number(value), screen: 'overview', query: {} })
  const shown = currentModel.value
  return (
    <>
      <select
        class="models"
        aria-label="Model"
        value={address.value.model === undefined ? '' : String(address.value.model)}
        onChange={(event) => choose(event.currentTarget.value)}
      >
        {there.map(({ id, title }) => (
          <option key={id} value={String(id)}>
            {visible(title)}
          </option>
        ))}
        <option value="">Open another…</option>
      </select>
      {shown && (
        <button
          type="button"
          class="quiet close"
          aria-label={`Close ${visible(shown.title)}`}
          title="Close this model"
          onClick={() => void removeModel(shown.id)}
        >
          ×
        </button>
      )}
    </>
  )
}

const isThere = ({ status }: OpenedModel): boolean => status === 'open' || status === 'failed'

function Sections({ model }: { readonly model: OpenedModel }) {
  const shown = address.value.screen
  // On a narrow screen the sections scroll.
  const current = useRef<HTMLAnchorElement>(null)
  useEffect(() => current.current?.scrollIntoView({ inline: 'center', block: 'nearest' }), [shown])
  return (
    <>
      {screens
        .filter((screen) => model.head || screen.isForAny)
        .map(({ id, title, key }) => (
          <a
            key={id}
            ref={id === shown ? current : undefined}
            href={formatAddress({ model: model.id, screen: id, query: {} })}
            aria-current={id === shown ? 'page' : undefined}
            title={`${title} (${key})`}
          >
            {title}
          </a>
        ))}
    </>
  )
}

function Content({ model }: { readonly model: OpenedModel | undefined }) {
  if (!model || model.status === 'closed') return <Drop />
  if (model.status === 'opening') return <p class="waiting">Opening {visible(model.title)}…</p>
  const isBare = model.status === 'failed' || !model.head
  if (isBare && !screenNamed(address.value.screen)?.isForAny) return <Failed model={model} />
  return <Loaded key={model.id} id={address.value.screen} model={model as ScreenProps['model']} />
}

function Failed({ model }: { readonly model: OpenedModel }) {
  return (
    <section class="failed">
      <h1>{visible(model.title)} cannot be opened</h1>
      {model.failure && (
        <ul class="findings">
          <FindingItem finding={model.failure} canJump={screenNamed('bytes') !== undefined} />
        </ul>
      )}
      <p>
        <a href="#/">Open another model</a>
      </p>
    </section>
  )
}

const loaded = new Map<string, ComponentType<ScreenProps>>()

/** A screen's code comes with its first use. */
function Loaded({ id, model }: { readonly id: string } & ScreenProps) {
  const screen = screenNamed(id) ?? screens[0]!
  const [, setCount] = useState(0)
  const [failure, setFailure] = useState<string>()
  const Component = loaded.get(screen.id)
  useEffect(() => {
    if (loaded.has(screen.id)) return
    screen.load().then(
      (module) => {
        loaded.set(screen.id, module.default)
        setCount((count) => count + 1)
      },
      (error: unknown) => setFailure(messageOf(error)),
    )
  }, [screen])
  if (failure !== undefined) return <p class="waiting">This part of the page cannot be loaded: {failure}</p>
  return Component ? <Component model={model} /> : <p class="waiting">Loading…</p>
}
