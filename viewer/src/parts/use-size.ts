// The size of an element on the screen, in CSS pixels.
import type { RefObject } from 'preact'
import { useEffect, useState } from 'preact/hooks'

export interface Size {
  readonly width: number
  readonly height: number
}

export function useSize(ref: RefObject<HTMLElement | null>): Size | undefined {
  const [size, setSize] = useState<Size>()
  useEffect(() => {
    const element = ref.current
    if (!element) return
    const observer = new ResizeObserver(() => {
      const next = { width: element.clientWidth, height: element.clientHeight }
      setSize((before) => (before?.width === next.width && before.height === next.height ? before : next))
    })
    observer.observe(element)
    return () => observer.disconnect()
  }, [ref])
  return size
}
