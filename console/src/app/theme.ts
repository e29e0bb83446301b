// Dark or light: as the system says until somebody chooses.
import { useEffect, useState } from 'react'

export type Theme = 'light' | 'dark'

function stored(): Theme | null {
  const value = localStorage.getItem('tollgate-theme')
  return value === 'dark' || value === 'light' ? value : null
}

const ofSystem = (): Theme => (matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light')

export function applyTheme(theme: Theme): void {
  document.documentElement.dataset.theme = theme
}

export function useTheme(): [theme: Theme, toggle: () => void] {
  const [theme, setTheme] = useState<Theme>(() => stored() ?? ofSystem())
  useEffect(() => applyTheme(theme), [theme])
  return [
    theme,
    () =>
      setTheme(was => {
        const next = was === 'dark' ? 'light' : 'dark'
        localStorage.setItem('tollgate-theme', next)
        return next
      }),
  ]
}

/** The theme that is shown now: what is drawn with its colours is drawn again when it changes. */
export function useShownTheme(): string | undefined {
  const root = document.documentElement
  const [shown, setShown] = useState(root.dataset.theme)
  useEffect(() => {
    const observer = new MutationObserver(() => setShown(root.dataset.theme))
    observer.observe(root, { attributes: true, attributeFilter: ['data-theme'] })
    return () => observer.disconnect()
  }, [root])
  return shown
}

applyTheme(stored() ?? ofSystem())
