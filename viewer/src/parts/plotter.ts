// uPlot, when a screen draws its first plot.
import type uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'

/**
 * It asks the browser for its language as it starts, and ends where numbers cannot be written in that. On systems without a locale, Chromium names one
 * that is none ("en-US@posix").
 */
export async function loadPlotter(): Promise<typeof uPlot> {
  try {
    new Intl.NumberFormat(navigator.language)
  } catch {
    Object.defineProperty(navigator, 'language', { value: 'en-US', configurable: true })
  }
  return (await import('uplot')).default
}
