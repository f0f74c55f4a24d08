import type { Page } from 'playwright-core';
import { closedMonth, commissionPayment } from '../support/gateway/commission-payments.ts';
import { describeInBrowser } from '../support/staff/chromium.ts';
import { axeFaults, type ConsoleSetup, consoleUrl, overflow, settled, setUpConsole } from '../support/staff/console.ts';
import { picture } from '../support/staff/pictures.ts';

/** Every page of the console, in both themes and two widths. */

const themes = ['light', 'dark'] as const;
const widths = [1280, 390] as const;

describeInBrowser('the pages of the console', () => {
  let setup: ConsoleSetup;
  beforeAll(async () => {
    setup = await setUpConsole();
  });
  afterAll(() => setup?.stop());
  afterEach(() => setup.closeAll());

  const pages: readonly (readonly [string, () => string])[] = [
    ['overview', () => '/'],
    ['orders', () => '/orders'],
    ['order-waiting', () => `/orders/${setup.waiting.id}`],
    ['order-failed', () => `/orders/${setup.failed.id}`],
    ['attention', () => '/attention'],
    ['partners', () => '/partners'],
    ['partner', () => `/partners/${partnerId}`],
    ['commission', () => '/commission'],
    ['partner-commission', () => `/commission/${partnerId}`],
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
    await closedMonth(setup.gateway, { partnerId, state: 'rolled', balance: '0.001', monthsAgo: 3 });
    await commissionPayment(setup.gateway, { partnerId, amount: '0.02' });
  });

  async function check(page: Page, name: string, width: number, theme: string): Promise<void> {
    await picture(page, `console/${name}-${width}-${theme}`);
    expect([name, width, await overflow(page)]).toEqual([name, width, 0]);
    expect([name, width, await axeFaults(page)]).toEqual([name, width, []]);
  }

  it.each(themes)('in %s have no fault that axe finds, and fit a telephone', async (theme) => {
    for (const width of widths) {
      const page = await setup.open('admin', '/me', {
        viewport: { width, height: width === 390 ? 844 : 900 },
        colorScheme: theme,
        bypassCSP: true,
        prepare: async (page) => {
          await page.goto(`${setup.gateway.app.internalUrl}/sign-in`);
          await page.getByLabel('Staff token').waitFor();
          await check(page, 'sign-in', width, theme);
        },
      });
      for (const [name, path] of pages) {
        await page.goto(consoleUrl(setup.gateway, path()));
        await settled(page);
        await check(page, name, width, theme);
      }
      // GraphiQL is not ours: its faults of accessibility are not looked for.
      await page.goto(`${setup.gateway.app.internalUrl}/playground`);
      await page.locator('.graphiql-query-editor').waitFor();
      await picture(page, `playground/playground-${width}-${theme}`);
      expect(await overflow(page)).toBe(0);
    }
  }, 600_000);
});
