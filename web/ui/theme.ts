import { useState } from 'react';

/** 'auto' follows the system. */
export type Theme = 'auto' | 'light' | 'dark';

const themes: readonly Theme[] = ['auto', 'light', 'dark'];
/** What the browser remembers it by. */
const key = 'theme';

function stored(): Theme {
  const theme = localStorage.getItem(key);
  return themes.find((known) => known === theme) ?? 'auto';
}

/** Shows the theme that this browser remembers. */
export function applyTheme(theme = stored()): void {
  if (theme === 'auto') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
}

/** The theme, and how to move on to the next one. */
export function useThemeChoice(): [Theme, () => void] {
  const [theme, setTheme] = useState(stored);
  const next = (): void => {
    const following = themes[(themes.indexOf(theme) + 1) % themes.length] ?? 'auto';
    localStorage.setItem(key, following);
    applyTheme(following);
    setTheme(following);
  };
  return [theme, next];
}
