import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';

// The shell paints without a graphics card in half the time of the whole browser.
const names = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

/** The path of this machine's Chromium. Null where there is none. */
export const chromiumPath = findChromium();

export function launchChromium(): Promise<Browser> {
  // Chromium's own sandbox does not run as root, which is what containers give; it opens our own
  // pages only.
  return chromium.launch({ executablePath: chromiumPath ?? '', args: ['--no-sandbox'] });
}

function findChromium(): string | null {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    for (const name of names) {
      const path = join(folder, name);
      try {
        accessSync(path, constants.X_OK);
        return path;
      } catch {
        // Not there; the next one.
      }
    }
  }
  return null;
}
