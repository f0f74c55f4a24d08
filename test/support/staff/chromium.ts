import { chromiumPath } from './browser.ts';

export { launchChromium } from './browser.ts';

/**
 * `describe` where there is a Chromium; elsewhere the tests are skipped and say why, or fail with
 * CI_BROWSER=required.
 */
export const describeInBrowser = chromiumPath === null ? describe.skip : describe;

if (chromiumPath === null) {
  const advice = 'there is no Chromium in PATH; on Debian: apt-get install chromium';
  if (process.env.CI_BROWSER === 'required') throw new Error(`CI_BROWSER=required, but ${advice}`);
  process.stdout.write(`the browser tests are skipped: ${advice}\n`);
}
