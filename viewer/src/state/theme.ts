// Light or dark: as the system says, unless somebody chose.
import { effect, signal } from '@preact/signals'

export type Theme = 'system' | 'light' | 'dark'

const key = 'tare.theme'
const themes: readonly Theme[] = ['system', 'light', 'dark']

/** Storage can be forbidden; then the choice lasts as long as the page. */
function stored(): Theme {
  try {
    return themes.find((theme) => theme === localStorage.getItem(key)) ?? 'system'
  } catch {
    return 'system'
  }
}

export const theme = signal<Theme>(stored())

const systemDark = matchMedia('(prefers-color-scheme: dark)')
const isSystemDark = signal(systemDark.matches)
systemDark.addEventListener('change', ({ matches }) => {
  isSystemDark.value = matches
})

/** For canvases, which CSS does not colour. */
export const isDark = (): boolean => (theme.value === 'system' ? isSystemDark.value : theme.value === 'dark')

export function nextTheme(): void {
  theme.value = themes[(themes.indexOf(theme.peek()) + 1) % themes.length]!
}

effect(() => {
  document.documentElement.dataset.theme = theme.value
  try {
    localStorage.setItem(key, theme.value)
  } catch {}
})
