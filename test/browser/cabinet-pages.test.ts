import type { Page } from 'playwright-core';
import { addressExample } from '../../src/chains/addresses/address.ts';
import { type CabinetSetup, settledCabinet, setUpCabinet } from '../support/cabinet/cabinet.ts';
import { askAbout } from '../support/gateway/asked-orders.ts';
import { closedMonth, commissionPayment } from '../support/gateway/commission-payments.ts';
import type { MadeOrder } from '../support/gateway/settled-gateway.ts';
import { describeInBrowser } from '../support/staff/chromium.ts';
import { axeFaults, overflow } from '../support/staff/console.ts';
import { picture } from '../support/staff/pictures.ts';
import { answerWith } from '../support/webhooks/receiver.ts';

/** Every page of the cabinet, in both themes and several widths. */

const themes = ['light', 'dark'] as const;
const widths = [1280, 390] as const;

describeInBrowser('the pages of the cabinet', () => {
  let setup: CabinetSetup;
  let asking: MadeOrder;
  beforeAll(async () => {
    setup = await setUpCabinet();
    await setup.gateway.call('POST', '/partner/webhook-endpoints', {
      key: setup.gateway.key,
      body: { url: setup.receivers.url('shop', '/exchange-events') },
    });
    await setup.gateway.order();
    setup.receivers.behave('shop', answerWith(200, 'accepted\n'.repeat(40)));
    await setup.send();
    asking = await setup.gateway.order({ refund_address: addressExample('BTC') });
    await askAbout(setup.gateway.query, asking.id, setup.gateway.clock.now());
    await setup.invite('Sam Roy', 'viewer');
    const { gateway, partnerId } = setup;
    await closedMonth(gateway, { partnerId, state: 'rolled', balance: '0.001', monthsAgo: 3 });
    await commissionPayment(gateway, { partnerId, amount: '0.02' });
  });
  afterAll(() => setup?.stop());
  afterEach(() => setup.closeAll());

  /** An owner requests another address than the one in effect. */
  async function requestAddress(): Promise<void> {
    const { gateway, partnerId } = setup;
    const { app, clock, query } = gateway;
    const [owner] = await query<{ id: string }>(
      "select id from partner_member where partner_id = $1 and role = 'owner' limit 1",
      [partnerId],
    );
    const asset = { coin: 'USDC', network: 'ERC20', address: addressExample('ERC20'), tag: null };
    const asked = { ...asset, partnerId, memberId: owner?.id ?? '', oldIsLost: false, now: clock.now() };
    await app.orm.em.fork().transactional((em) => app.commissionAddresses.request(em, asked));
    await setup.send();
  }

  async function check(page: Page, name: string, width: number, theme: string): Promise<void> {
    // Colours are compared once a dialog has risen.
    await page.evaluate('Promise.all(document.getAnimations().map((one) => one.finished.catch(() => {})))');
    await picture(page, `cabinet/${name}-${width}-${theme}`);
    expect([name, width, await overflow(page)]).toEqual([name, width, 0]);
    expect([name, width, await axeFaults(page)]).toEqual([name, width, []]);
  }

  const pages: readonly (readonly [string, () => string])[] = [
    ['home', () => '/'],
    ['orders', () => '/orders'],
    ['order-waiting', () => `/orders/${setup.waiting.id}`],
    ['order', () => `/orders/${setup.completed.id}`],
    ['order-asking', () => `/orders/${asking.id}`],
    ['missing', () => '/orders/nothing'],
    ['keys', () => '/keys'],
    ['webhooks', () => '/webhooks'],
    ['ip-addresses', () => '/ip-addresses'],
    ['limits', () => '/limits'],
    ['team', () => '/team'],
    ['commission', () => '/commission'],
    ['me', () => '/me'],
  ];

  it.each(themes)('in %s have no fault that axe finds, and fit a telephone and a wall', async (theme) => {
    for (const width of widths) {
      const { page, open } = await setup.visitor({
        viewport: { width, height: width === 390 ? 844 : 900 },
        colorScheme: theme,
        bypassCSP: true,
      });
      await open('/orders');
      await page.getByRole('heading', { name: 'Sign in' }).waitFor();
      await check(page, 'sign-in', width, theme);
      await page.goto(await setup.invite('Ada Osei', 'owner'));
      await page.getByRole('heading', { name: 'Welcome' }).waitFor();
      await check(page, 'invitation', width, theme);
      await page.getByRole('button', { name: 'Make a passkey' }).click();
      await page.getByRole('button', { name: 'Later' }).waitFor();
      await check(page, 'second-passkey', width, theme);
      await setup.gateway.query('update partner_member set linked_by_staff_at = null');
      await page.getByRole('button', { name: 'Later' }).click();
      await page.getByRole('heading', { name: 'Home' }).waitFor();
      if (width === widths[0] && theme === themes[0]) await requestAddress();
      for (const [name, path] of pages) {
        await open(path());
        await settledCabinet(page);
        if (name === 'order-asking') await page.getByText('The deposit is smaller than expected').waitFor();
        await check(page, name, width, theme);
        if (name === 'webhooks') {
          await page.locator('.delivery-row summary').first().click();
          await page.getByRole('group', { name: /^What your endpoint answered/ }).waitFor();
          await check(page, 'delivery', width, theme);
        }
        if (name === 'commission') {
          await page.getByRole('button', { name: 'Change the address' }).click();
          await page.locator('[name=address]').fill(addressExample('ERC20'));
          await check(page, 'commission-address', width, theme);
          await page.getByRole('button', { name: 'Continue' }).click();
          await page.getByRole('group', { name: /^What your passkey confirms/ }).waitFor();
          await check(page, 'commission-confirm', width, theme);
        }
      }
      await open('/keys');
      await page.getByRole('button', { name: 'Make a key' }).click();
      await check(page, 'make-key', width, theme);
      await page.getByLabel('Label').fill(`checkout ${width} ${theme}`);
      await page.getByRole('dialog').getByRole('button', { name: 'Make a key' }).click();
      await page.getByRole('button', { name: 'I have stored it' }).waitFor();
      // The picture shows no key that works.
      await page.evaluate('document.querySelector(".secret code").textContent = "xp_test_HbFLDE5TGHlK.…"');
      await check(page, 'secret', width, theme);
      await page.getByRole('button', { name: 'I have stored it' }).click();
      await page.setViewportSize({ width: 2560, height: 1200 });
      for (const path of ['/', '/orders', '/commission', '/limits']) {
        await open(path);
        await settledCabinet(page);
        expect(await overflow(page)).toBe(0);
      }
      await page.context().close();
      // A partner may have few live keys.
      await setup.gateway.query("update api_key set revoked_at = now() where label like 'checkout%'");
    }
  }, 600_000);
});
