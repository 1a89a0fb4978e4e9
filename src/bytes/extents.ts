// The byte map. While a parser reads, it can note which bytes are which field; `tare map` shows the result, and a byte that nobody
// claimed is shown as a gap. Recording costs nothing when no recorder is given.

export type ExtentKind = 'field' | 'data' | 'padding'

export interface Extent {
  readonly file: string
  readonly offset: number
  readonly length: number
  readonly path: string
  readonly kind: ExtentKind
  /** The value of a field, as it should be shown. */
  readonly value?: string | number | bigint | boolean | undefined
}

export interface ExtentRecorder {
  add(extent: Extent): void
}

export class ExtentList implements ExtentRecorder {
  readonly extents: Extent[] = []

  add(extent: Extent): void {
    this.extents.push(extent)
  }
}
