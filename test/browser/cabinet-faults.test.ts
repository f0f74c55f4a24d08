import type { Page, Route } from 'playwright-core';
import { addressExample } from '../../src/chains/addresses/address.ts';
import { type CabinetSetup, settledCabinet, setUpCabinet } from '../support/cabinet/cabinet.ts';
import { askAbout } from '../support/gateway/asked-orders.ts';
import type { MadeOrder } from '../support/gateway/settled-gateway.ts';
import { describeInBrowser } from '../support/staff/chromium.ts';

/** A form of the cabinet: its page, what opens it, and the request that it sends. */
interface FormCase {
  readonly path: string;
  readonly open: string;
  readonly submit: string;
  readonly api: string;
  /** A text field with what is typed there. Null for a form without one. */
  readonly typed: readonly [label: string, text: string] | null;
}

/** A fault of the way, as the browser meets it, and what the page says. */
interface Fault {
  readonly meet: (route: Route) => Promise<void>;
  readonly says: RegExp;
}

const refused =
  (status: number, code: string, headers: Record<string, string> = {}) =>
  (route: Route) =>
    route.fulfill({ status, headers, json: { detail: `refused: ${code}`, code, request_id: '01TEST' } });

const faults: Readonly<Record<string, Fault>> = {
  'a lost network': { meet: (route) => route.abort(), says: /does not answer, so it is not known whether/ },
  'a server that restarts': { meet: refused(503, 'unavailable'), says: /busy or restarting/ },
  'too many requests': { meet: refused(429, 'rate_limited', { 'Retry-After': '1' }), says: /refused: rate_limited/ },
  // The server itself refuses: the test ends all sessions before.
  'an expired session': { meet: (route) => route.continue(), says: /Your session has ended/ },
};

describeInBrowser('a form of the cabinet that meets', () => {
  let setup: CabinetSetup;
  let asking: MadeOrder;
  beforeAll(async () => {
    setup = await setUpCabinet();
    asking = await setup.gateway.order({ refund_address: addressExample('BTC') });
    await askAbout(setup.gateway.query, asking.id, setup.gateway.clock.now());
    await setup.invite('Sam Roy', 'viewer');
    await setup.gateway.call('POST', '/partner/webhook-endpoints', {
      key: setup.gateway.key,
      body: { url: setup.receivers.url('shop', '/events') },
    });
  });
  afterAll(() => setup?.stop());
  afterEach(() => setup.closeAll());

  const dialog = (page: Page) => page.getByRole('dialog').filter({ hasNot: page.getByText('You are signed out') });

  const forms: readonly FormCase[] = [
    {
      path: '/keys',
      open: 'Make a key',
      submit: 'Make a key',
      api: '**/cabinet/api/keys',
      typed: ['Label', 'half typed'],
    },
    { path: '/keys', open: 'Roll', submit: 'Roll', api: '**/cabinet/api/keys/*/roll', typed: null },
    {
      path: '/ip-addresses',
      open: 'Change IP addresses',
      submit: 'Set the IP addresses',
      api: '**/cabinet/api/keys/*/networks',
      typed: ['Allowed IP addresses', '127.0.0.0/8'],
    },
    {
      path: '/webhooks',
      open: 'Add an endpoint',
      submit: 'Add an endpoint',
      api: '**/cabinet/api/partner/webhook-endpoints',
      typed: ['URL', 'https://hooks.test/new'],
    },
    {
      path: '/webhooks',
      open: 'Change',
      submit: 'Change',
      api: '**/cabinet/api/partner/webhook-endpoints/*',
      typed: ['URL', 'https://hooks.test/changed'],
    },
    {
      path: '/webhooks',
      open: 'New secret',
      submit: 'New secret',
      api: '**/cabinet/api/partner/webhook-endpoints/*/rotate-secret',
      typed: null,
    },
    {
      path: '/team',
      open: 'Invite a person',
      submit: 'Invite a person',
      api: '**/cabinet/api/invitations',
      typed: ['Name', 'Half Typed'],
    },
    {
      path: '/orders/asking',
      open: 'Refund',
      submit: 'Refund',
      api: '**/cabinet/api/partner/orders/*/actions',
      typed: null,
    },
  ];

  it.each(Object.entries(faults))(
    '%s says so, keeps what was typed, and goes on',
    async (name, { meet, says }) => {
      const { page, open } = await setup.member('owner', '/');
      for (const { path, open: opener, submit, api, typed } of forms) {
        await open(path === '/orders/asking' ? `/orders/${asking.id}` : path);
        await settledCabinet(page);
        await page.getByRole('button', { name: opener }).first().click();
        if (typed) await dialog(page).getByLabel(typed[0]).fill(typed[1]);
        if (name === 'an expired session') await setup.gateway.query('delete from partner_session');
        let isMet = false;
        await page.route(api, async (route) => {
          if (route.request().method() === 'GET') return route.fallback();
          isMet = true;
          return meet(route);
        });
        await dialog(page).getByRole('button', { name: submit, exact: true }).click();
        if (name === 'an expired session') {
          await page.getByRole('heading', { name: 'You are signed out' }).waitFor();
          await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
          await page.getByRole('heading', { name: 'You are signed out' }).waitFor({ state: 'detached' });
        }
        const said = dialog(page).locator('.notice.bad');
        await said.waitFor();
        expect([path, opener, await said.innerText()]).toEqual([path, opener, expect.stringMatching(says)]);
        expect([opener, isMet]).toEqual([opener, true]);
        if (typed) expect(await dialog(page).getByLabel(typed[0]).inputValue()).toBe(typed[1]);
        await page.unroute(api);
        // The same button goes on once the way is free.
        await dialog(page).getByRole('button', { name: submit, exact: true }).waitFor();
        await page.keyboard.press('Escape');
        await dialog(page).waitFor({ state: 'detached' });
      }
    },
    300_000,
  );
});
