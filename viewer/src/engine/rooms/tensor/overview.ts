// What the overview asks: where the bytes are, metadata and vocabulary by search, and the verdict of a quick check.
import { type VerifyResult, verifySource } from 'tare/kit'
import type { Call } from '../../calls.js'
import { type CallContext, type Handlers, pause } from '../../serve.js'
import { type MetadataPage, metadataPage, metadataText } from '../metadata.js'
import type { ModelFiles } from '../models/open.js'
import { requireOpened } from '../models/opened.js'
import { openInput } from '../models/sources.js'
import { layOutTreemap, type TreemapBox } from '../treemap.js'
import { type VocabularyPage, vocabularyPage } from '../vocabulary.js'

/** Some rows of a list that can be searched. */
interface PageAsk {
  readonly model: number
  readonly search: string
  readonly from: number
  readonly to: number
}

export interface OverviewCalls {
  /** Needs no open model, and is asked of a worker of its own: checking a million tensors takes seconds. */
  verify: Call<{ readonly model: number; readonly from: ModelFiles; readonly quick: boolean }, VerifyResult>
  treemap: Call<{ readonly model: number; readonly width: number; readonly height: number }, readonly TreemapBox[]>
  metadata: Call<PageAsk, MetadataPage>
  metadataText: Call<{ readonly model: number; readonly key: string }, string>
  vocabulary: Call<PageAsk, VocabularyPage>
}

export const overviewHandlers: Handlers = {
  /** A check reads the file from the start, through a source of its own. */
  async verify({ from, quick }: OverviewCalls['verify']['ask'], { signal, progress }: CallContext) {
    const source = await openInput(from, signal)
    return verifySource(source, { quick, signal, onProgress: ({ done, total }) => progress({ done, total }) })
  },
  /** Of a million tensors it takes a while: whatever is asked meanwhile is answered in between. */
  treemap: ({ model, width, height }: OverviewCalls['treemap']['ask'], { signal }: CallContext) =>
    layOutTreemap(requireOpened(model).model, width, height, () => pause(signal)),
  metadata: ({ model, search, from, to }: PageAsk) =>
    metadataPage(requireOpened(model).model.metadata, search, from, to),
  metadataText: ({ model, key }: OverviewCalls['metadataText']['ask']) =>
    metadataText(requireOpened(model).model.metadata, key),
  vocabulary: ({ model, search, from, to }: PageAsk) => vocabularyPage(requireOpened(model).model, search, from, to),
}
