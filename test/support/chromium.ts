import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

/** The path of a Chromium on this machine, or null. With CI_BROWSER=required its absence is an error. */
export function findChromium(): string | null {
  for (const folder of (process.env.PATH ?? '').split(delimiter)) {
    for (const name of names) {
      try {
        const path = join(folder, name);
        accessSync(path, constants.X_OK);
        return path;
      } catch {
        // Not there; the next one.
      }
    }
  }
  if (process.env.CI_BROWSER === 'required') {
    throw new Error('CI_BROWSER=required, but there is no Chromium in PATH; on Debian: apt-get install chromium');
  }
  return null;
}
