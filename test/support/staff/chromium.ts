import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];
const found = findChromium();

/**
 * `describe` where there is a Chromium; elsewhere the tests are skipped and say why, or fail with
 * CI_BROWSER=required.
 */
export const describeInBrowser = found === null ? describe.skip : describe;

if (found === null) {
  const advice = 'there is no Chromium in PATH; on Debian: apt-get install chromium';
  if (process.env.CI_BROWSER === 'required') throw new Error(`CI_BROWSER=required, but ${advice}`);
  process.stdout.write(`the browser tests are skipped: ${advice}\n`);
}

export function launchChromium(): Promise<Browser> {
  // Chromium's own sandbox does not run as root, which is what containers give; it opens our own
  // pages only.
  return chromium.launch({ executablePath: found ?? '', args: ['--no-sandbox'] });
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
