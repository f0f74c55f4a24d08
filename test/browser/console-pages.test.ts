import { mkdirSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { describeInBrowser } from '../support/staff/chromium.ts';
import { axeFaults, type ConsoleSetup, consoleUrl, overflow, settled, setUpConsole } from '../support/staff/console.ts';

/**
 * Every page of the console, in both themes and two widths. With CONSOLE_SHOTS=folder it writes the
 * pictures of the documentation, and with CONSOLE_SHOTS_ALL=true a picture of each page.
 */

const themes = ['light', 'dark'] as const;
const widths = [1280, 390] as const;
/** The pictures of the documentation, few and small. */
const documented = new Set(['overview-1280-light', 'order-failed-1280-light', 'orders-390-dark']);

describeInBrowser('the pages of the console', () => {
  let setup: ConsoleSetup;
  beforeAll(async () => {
    setup = await setUpConsole();
  });
  afterAll(() => setup?.stop());
  afterEach(() => setup.closeAll());

  const folder = process.env.CONSOLE_SHOTS;
  async function shoot(page: Page, name: string): Promise<void> {
    if (folder === undefined || !(process.env.CONSOLE_SHOTS_ALL || documented.has(name))) return;
    mkdirSync(folder, { recursive: true });
    await page.screenshot({ path: `${folder}/${name}.png` });
  }

  const pages: readonly (readonly [string, () => string])[] = [
    ['overview', () => '/'],
    ['orders', () => '/orders'],
    ['order-waiting', () => `/orders/${setup.waiting.id}`],
    ['order-failed', () => `/orders/${setup.failed.id}`],
    ['attention', () => '/attention'],
    ['partners', () => '/partners'],
    ['partner', () => `/partners/${partnerId}`],
    ['money', () => '/money'],
    ['chains', () => '/chains'],
    ['catalogue', () => '/catalogue'],
    ['prices', () => '/catalogue?tab=prices'],
    ['quote', () => '/catalogue?tab=quote'],
    ['audit', () => '/audit'],
    ['staff', () => '/staff'],
    ['me', () => '/me'],
    ['components', () => '/components'],
  ];
  let partnerId: string;
  beforeAll(async () => {
    const [row] = await setup.gateway.query<{ partner_id: string }>(
      'select partner_id from exchange_order where id = $1',
      [setup.waiting.id],
    );
    partnerId = row?.partner_id ?? '';
  });

  it.each(themes)('in %s have no fault that axe finds, and fit a telephone', async (theme) => {
    for (const width of widths) {
      const page = await setup.open('admin', '/me', {
        viewport: { width, height: width === 390 ? 844 : 900 },
        colorScheme: theme,
        bypassCSP: true,
      });
      for (const [name, path] of pages) {
        await page.goto(consoleUrl(setup.gateway, path()));
        await settled(page);
        await shoot(page, `${name}-${width}-${theme}`);
        expect([name, await overflow(page)]).toEqual([name, 0]);
        expect([name, await axeFaults(page)]).toEqual([name, []]);
      }
    }
  }, 600_000);
});
