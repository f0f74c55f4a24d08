import { readFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import type { APIResponse, Page, Route } from 'playwright-core';
import { addressExample } from '../../src/chains/addresses/address.ts';
import { type CabinetSetup, settledCabinet, setUpCabinet } from '../support/cabinet/cabinet.ts';
import { seedOrders } from '../support/database/seed-orders.ts';
import { askAbout } from '../support/gateway/asked-orders.ts';
import { orderBody } from '../support/gateway/orders.ts';
import { describeInBrowser } from '../support/staff/chromium.ts';
import { answerWith, isVerified } from '../support/webhooks/receiver.ts';

describeInBrowser('the cabinet', () => {
  let setup: CabinetSetup;
  beforeAll(async () => {
    setup = await setUpCabinet();
  });
  afterAll(() => setup?.stop());
  afterEach(async () => {
    await setup.closeAll();
    // A partner may have few live keys.
    await setup.gateway.query('update api_key set revoked_at = $1 where label <> $2 and revoked_at is null', [
      setup.gateway.clock.now(),
      '',
    ]);
  });

  const pathOf = (page: Page): string => page.url().slice(setup.origin.length);
  const dialog = (page: Page) => page.getByRole('dialog');

  /** The status of a real request with a key, as a program sends it. */
  const statusWith = async (key: string): Promise<number> =>
    (await fetch(`${setup.origin}/api/v1/partner/orders`, { headers: { Authorization: `Bearer ${key}` } })).status;

  /** The secret in the dialog that shows it, and the dialog closed. */
  async function takeSecret(page: Page): Promise<string> {
    const secret = (await dialog(page).locator('.secret code').innerText()).trim();
    await page.getByRole('button', { name: /^I have (stored|sent) it$/ }).click();
    await dialog(page).waitFor({ state: 'detached' });
    return secret;
  }

  async function makeKey(page: Page, label: string): Promise<string> {
    await page.getByRole('button', { name: 'Make a key' }).click();
    await page.getByLabel('Label').fill(label);
    await dialog(page).getByRole('button', { name: 'Make a key' }).click();
    return takeSecret(page);
  }

  const keyRow = (page: Page, label: string) =>
    page.locator('.item').filter({ has: page.getByRole('heading', { name: label, exact: true }) });

  it('takes an invitation once, and keeps its token out of the history', async () => {
    const link = await setup.invite('Ada Osei', 'owner');
    const { page, addDevice, open } = await setup.visitor();
    await page.goto(link);
    await page.getByRole('heading', { name: 'Welcome, Ada Osei' }).waitFor();
    expect(pathOf(page)).toBe('/cabinet/invitation');
    await page.getByRole('button', { name: 'Make a passkey' }).click();
    await page.getByRole('heading', { name: 'One more passkey' }).waitFor();
    // The first device refuses to hold a second passkey of the same account.
    await addDevice('usb');
    await page.getByRole('button', { name: 'Make a second passkey' }).click();
    await page.getByRole('heading', { name: 'Home' }).waitFor();
    await open('/me');
    await page.getByRole('button', { name: 'Remove' }).first().waitFor();
    expect(await page.getByRole('button', { name: 'Remove' }).count()).toBe(2);

    const other = await setup.visitor();
    await other.page.goto(link);
    await other.page.getByRole('heading', { name: 'This invitation does not work' }).waitFor();
    await other.page.reload();
    await other.page.getByRole('heading', { name: 'Open the link again' }).waitFor();
  });

  it('shows a new key once, in no address, cache or storage', async () => {
    const { page } = await setup.member('developer', '/keys');
    await page.getByRole('button', { name: 'Make a key' }).click();
    await page.getByLabel('Label').fill('checkout');
    await dialog(page).getByRole('button', { name: 'Make a key' }).click();
    const secret = (await dialog(page).locator('.secret code').innerText()).trim();
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    await dialog(page).getByText(secret).waitFor();
    await page.getByRole('button', { name: 'I have stored it' }).click();
    await keyRow(page, 'checkout').waitFor();
    expect(await statusWith(secret)).toBe(200);

    const kept = await page.evaluate(
      'JSON.stringify([location.href, history.state, { ...localStorage }, { ...sessionStorage }, document.documentElement.outerHTML])',
    );
    expect(kept).not.toContain(secret);
    await page.reload();
    await keyRow(page, 'checkout').waitFor();
    expect(await page.content()).not.toContain(secret);
    expect(await page.content()).toContain(secret.slice(-4));
  });

  it('rolls a key: both work until the old one ends', async () => {
    const { page } = await setup.member('owner', '/keys');
    const old = await makeKey(page, 'rolled');
    await keyRow(page, 'rolled').getByRole('button', { name: 'Roll' }).click();
    await page.getByLabel('The old one ends').selectOption({ label: 'In one day' });
    await dialog(page).getByRole('button', { name: 'Roll' }).click();
    await dialog(page).getByText('Both work now').waitFor();
    const next = await takeSecret(page);
    expect([await statusWith(old), await statusWith(next)]).toEqual([200, 200]);
    setup.gateway.clock.advance(25 * 3_600_000);
    expect([await statusWith(old), await statusWith(next)]).toEqual([401, 200]);
  });

  it('keeps a new key in sight when the row of the old one moves to another list', async () => {
    const { page } = await setup.member('owner', '/keys');
    const old = await makeKey(page, 'swapped');
    await keyRow(page, 'swapped').getByRole('button', { name: 'Roll' }).click();
    await page.getByLabel('The old one ends').selectOption({ label: 'Now' });
    await dialog(page).getByRole('button', { name: 'Roll' }).click();
    await dialog(page).getByText('The old one has ended').waitFor();
    await page.locator('.item.ended').filter({ hasText: 'swapped' }).waitFor();
    const next = await takeSecret(page);
    expect([await statusWith(old), await statusWith(next)]).toEqual([401, 200]);
  });

  it('revokes a key at once', async () => {
    const { page } = await setup.member('owner', '/keys');
    const key = await makeKey(page, 'revoked');
    await keyRow(page, 'revoked').getByRole('button', { name: 'Revoke' }).click();
    await dialog(page).getByRole('button', { name: 'Revoke' }).click();
    await keyRow(page, 'revoked').locator('.badge').getByText('Revoked').waitFor();
    expect(await statusWith(key)).toBe(401);
  });

  it('shows faults at their fields, keeps what was typed, and asks for the passkey again', async () => {
    const { page, verifies } = await setup.member('owner', '/keys');
    await page.getByRole('button', { name: 'Make a key' }).click();
    await page.getByLabel('Label').fill('with networks');
    await page.getByLabel('Allowed IP addresses').fill('203.0.113.0/99');
    await dialog(page).getByRole('button', { name: 'Make a key' }).click();
    const field = dialog(page).locator('[name=networks]');
    await dialog(page).locator('[name=networks][aria-invalid]').waitFor();
    expect(await dialog(page).locator('.fault').count()).toBe(1);
    expect(await field.inputValue()).toBe('203.0.113.0/99');
    expect(await page.getByLabel('Label').inputValue()).toBe('with networks');

    await field.fill('127.0.0.0/8');
    await verifies(false);
    await dialog(page).getByRole('button', { name: 'Make a key' }).click();
    await dialog(page).getByText('No passkey was used').waitFor();
    expect(await field.inputValue()).toBe('127.0.0.0/8');
    await verifies(true);
    await dialog(page).getByRole('button', { name: 'Make a key' }).click();
    expect(await statusWith(await takeSecret(page))).toBe(200);
  });

  it('refuses to lock out the address that used a key last, unless that is confirmed', async () => {
    const { page, open } = await setup.member('developer', '/keys');
    const key = await makeKey(page, 'locked');
    expect(await statusWith(key)).toBe(200);
    // Uses are stored in batches, later.
    await setup.gateway.query("update api_key set last_used_from = '127.0.0.1' where label = 'locked'");
    // The earlier address of the page.
    await open('/networks');
    await page.getByText('Your IP address is').waitFor();
    await keyRow(page, 'locked').getByRole('button', { name: 'Change IP addresses' }).click();
    await dialog(page).locator('[name=networks]').fill('203.0.113.0/24');
    await dialog(page).getByRole('button', { name: 'Set the IP addresses' }).click();
    await dialog(page).getByLabel('Lock out the address that used the key last').check();
    await dialog(page).getByRole('button', { name: 'Set the IP addresses' }).click();
    await keyRow(page, 'locked').getByText('203.0.113.0/24').waitFor();
    await dialog(page).waitFor({ state: 'detached' });
  });

  it('lists orders with filters in the address, and shows one with its timeline', async () => {
    const { page } = await setup.member('viewer', '/orders');
    await page.getByRole('button', { name: 'Completed' }).click();
    await page.waitForURL('**/orders?status=completed');
    await page.getByLabel('Order or external id').fill('cart-2');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/orders?status=completed&q=cart-2');
    const { short_id } = await setup.gateway.show(setup.completed);
    await page.getByRole('link', { name: short_id }).click();
    await page.getByRole('heading', { name: short_id }).waitFor();
    await page.locator('.timeline').getByText('Completed', { exact: true }).waitFor();
    expect(await page.locator('.timeline').getByText('Payout of').count()).toBeGreaterThan(0);
    await page.goBack();
    await page.waitForURL('**/orders?status=completed&q=cart-2');
    expect(await page.getByRole('button', { name: 'Completed' }).getAttribute('aria-pressed')).toBe('true');
  });

  it('shows what an order asks, and lets a person with the right answer it', async () => {
    const { gateway } = setup;
    const ask = async () => {
      const order = await gateway.order({ refund_address: addressExample('BTC') });
      await askAbout(gateway.query, order.id, gateway.clock.now());
      return order;
    };
    const [first, second] = [await ask(), await ask()];
    const viewer = await setup.member('viewer', `/orders/${first.id}`);
    await viewer.page.getByRole('heading', { name: 'What to do with the deposit?' }).waitFor();
    await viewer.page.getByText('Your role does not decide this').waitFor();
    expect(await viewer.page.getByRole('button', { name: 'Refund', exact: true }).count()).toBe(0);

    const { page, open } = await setup.member('finance', `/orders?q=${first.id}`);
    await page.getByRole('row').filter({ hasText: 'Decide' }).getByRole('link').click();
    await page.getByText('The deposit is smaller than expected').waitFor();
    await page.getByRole('button', { name: 'Refund', exact: true }).click();
    await dialog(page).getByText(addressExample('BTC')).waitFor();
    // A lost answer: the person presses the button again, and the order is answered once.
    let keys: (string | undefined)[] = [];
    await page.route('**/actions', async (route) => {
      keys = [...keys, route.request().headers()['idempotency-key']];
      if (keys.length > 1) return route.continue();
      await route.fetch();
      return route.abort();
    });
    await dialog(page).getByRole('button', { name: 'Refund', exact: true }).click();
    await dialog(page).getByText('the gateway does not answer').waitFor();
    await dialog(page).getByRole('button', { name: 'Refund', exact: true }).click();
    await dialog(page).waitFor({ state: 'detached' });
    expect([new Set(keys).size, keys.length]).toEqual([1, 2]);
    await page.getByRole('heading', { name: 'What to do with the deposit?' }).waitFor({ state: 'detached' });
    const entries = await gateway.query(
      `select m.role from audit_log a join partner_member m on m.id = a.member_id
        where a.operation = 'answerOrder' and a.target = $1`,
      [`order:${first.id}`],
    );
    expect(entries).toEqual([{ role: 'finance' }]);

    await open(`/orders/${second.id}`);
    await page.getByRole('button', { name: 'Refund', exact: true }).click();
    // The page is older than the present question.
    await page.unroute('**/actions');
    await page.route('**/actions', (route) =>
      route.continue({ postData: JSON.stringify({ ...route.request().postDataJSON(), action_id: 'act_1' }) }),
    );
    await dialog(page).getByRole('button', { name: 'Refund', exact: true }).click();
    await dialog(page).getByText('this is not the present question').waitFor();
    await page.unroute('**/actions');
    await dialog(page).getByRole('button', { name: 'Refund', exact: true }).click();
    await dialog(page).waitFor({ state: 'detached' });
  });

  it('finds an order by an id of the partner that looks like one of the gateway', async () => {
    const { gateway } = setup;
    const { open, page } = await setup.member('viewer', '/orders');
    for (const external_id of ['order-123456', '8f14e45f-ceea-467f-a9b0-1c2d3e4f5a6b']) {
      const order = await gateway.order({ external_id });
      await open(`/orders?q=${external_id}`);
      await page.getByRole('link', { name: (await gateway.show(order)).short_id }).waitFor();
    }
  });

  it('tells a page without a fitting order from the end of the list', async () => {
    const { gateway, people } = setup;
    const { id } = await gateway.partners.create('Shop of many orders');
    await seedOrders(gateway.databaseUrl, {
      count: 1_100,
      partners: [id],
      days: 3,
      until: gateway.clock.now(),
      lean: true,
    });
    const { page, open } = await setup.visitor();
    await page.goto((await people.members.invite(id, { name: 'Ada Osei', role: 'viewer' }, null)).link);
    await page.getByRole('button', { name: 'Make a passkey' }).click();
    await page.getByRole('button', { name: 'Later' }).click();
    await page.getByRole('heading', { name: 'Home' }).waitFor();
    await open('/orders?coin=NONE');
    await page.getByText('No order on this page fits this filter').waitFor();
    await page.getByRole('button', { name: 'After' }).click();
    await page.getByText('No order fits this filter').waitFor();
    expect(await page.getByRole('button', { name: 'After' }).isDisabled()).toBe(true);
  });

  it('knows nothing of orders of other partners', async () => {
    const { key } = await setup.gateway.partner();
    const { json } = await setup.gateway.call('POST', '/partner/orders', { key, body: orderBody() });
    const { page, open } = await setup.member('owner', `/orders/${json.id}`);
    await page.getByText('There is no such thing').waitFor();
    const answer = await page.request.get(`${setup.origin}/cabinet/api/partner/orders/${json.id}`);
    expect(answer.status()).toBe(404);
    await open(`/orders?q=${json.short_id}`);
    await page.getByText('No order fits this filter').waitFor();
  });

  it('offers each role what it may do, and the server refuses the rest', async () => {
    const seen: Record<string, unknown> = {};
    for (const role of ['owner', 'developer', 'finance', 'viewer'] as const) {
      const { page, open } = await setup.member(role);
      const names = await page.getByRole('navigation', { name: 'Pages' }).getByRole('link').allInnerTexts();
      const ways: number[] = [];
      for (const card of ['Webhook health', 'Refused requests']) {
        const region = page.getByRole('region', { name: card });
        await region.waitFor();
        ways.push(await region.getByRole('link').count());
      }
      const statuses: number[] = [];
      for (const path of ['keys', 'partner/webhook-endpoints', 'partner/statements', 'audit']) {
        statuses.push((await page.request.get(`${setup.origin}/cabinet/api/${path}`)).status());
      }
      await open('/team');
      await settledCabinet(page);
      const invites = await page.getByRole('button', { name: 'Invite a person' }).count();
      await open('/keys');
      await page.locator('.page-head, .state').first().waitFor();
      await page.locator('.skeleton').first().waitFor({ state: 'detached' });
      // The button comes with the keys.
      await page.waitForLoadState('networkidle');
      const makes = await page.getByRole('button', { name: 'Make a key' }).count();
      seen[role] = { pages: names.map((name) => name.trim()), ways, statuses, invites, makes };
      await setup.closeAll();
    }
    const dev = ['Home', 'Orders', 'Keys', 'Webhooks', 'IP addresses', 'Limits'];
    expect(seen).toEqual({
      owner: {
        pages: [...dev, 'Commission', 'Team'],
        ways: [1, 1],
        statuses: [200, 200, 200, 200],
        invites: 1,
        makes: 1,
      },
      developer: { pages: [...dev, 'Team'], ways: [1, 1], statuses: [200, 200, 403, 403], invites: 0, makes: 1 },
      finance: {
        pages: ['Home', 'Orders', 'Limits', 'Commission', 'Team'],
        ways: [0, 0],
        statuses: [403, 403, 200, 403],
        invites: 0,
        makes: 0,
      },
      viewer: {
        pages: ['Home', 'Orders', 'Limits', 'Team'],
        ways: [0, 0],
        statuses: [403, 403, 403, 403],
        invites: 0,
        makes: 0,
      },
    });
  });

  it('adds an endpoint with a secret shown once, and marks a replay as a redelivery', async () => {
    const { page } = await setup.member('developer', '/webhooks');
    await page.getByRole('button', { name: 'Add an endpoint' }).click();
    await page.getByLabel('URL').fill('http://10.0.0.1/hook');
    await dialog(page).getByRole('button', { name: 'Add an endpoint' }).click();
    await dialog(page).locator('[name=url][aria-invalid]').waitFor();
    await page.getByLabel('URL').fill(setup.receivers.url('cabinet', '/hook'));
    await dialog(page).getByRole('button', { name: 'Add an endpoint' }).click();
    expect(await takeSecret(page)).toMatch(/^whsec_/);
    await page.getByText('Nothing was sent yet').waitFor();
    const told = 'thanks <img src=x onerror="document.title=1">';
    setup.receivers.behave('cabinet', answerWith(200, told));

    await setup.gateway.order();
    await setup.send();
    const rows = page.locator('.delivery-row');
    await rows.filter({ hasText: 'order.created' }).first().waitFor();
    await rows.first().locator('summary').click();
    const answered = page.getByRole('group', { name: 'What your endpoint answered to attempt 1' }).first();
    expect(await answered.innerText()).toBe(told);
    expect((await answered.boundingBox())?.height).toBeLessThan(100);
    expect(await page.locator('img[src=x]').count()).toBe(0);
    await page.getByRole('button', { name: 'Replay' }).click();
    await page.getByText('It is sent again.').waitFor();
    await setup.send();
    await rows.filter({ hasText: 'Redelivery' }).first().waitFor();

    await page.getByRole('button', { name: 'Send a test event' }).click();
    await page.getByText('The test event is on its way').waitFor();
    await setup.sendUntil(rows.filter({ hasText: 'endpoint.test' }).first().waitFor());
    await page.getByText('Your endpoint').filter({ hasText: 'the test event' }).waitFor();
  });

  /** Lets requests pass, and gives the answer to the first success to `meet`. */
  async function meetFirst(page: Page, api: string, meet: (route: Route, answer: APIResponse) => Promise<void>) {
    let isMet = false;
    await page.route(api, async (route) => {
      if (isMet || route.request().method() === 'GET') return route.fallback();
      const answer = await route.fetch();
      if (!answer.ok()) return route.fulfill({ response: answer });
      isMet = true;
      return meet(route, answer);
    });
  }

  it.each([
    ['lost', (route) => route.abort()],
    [
      'cut off',
      async (route, answer) =>
        route.fulfill({
          status: answer.status(),
          contentType: 'application/json',
          body: (await answer.text()).slice(0, 30),
        }),
    ],
  ] satisfies readonly (readonly [
    string,
    Parameters<typeof meetFirst>[2],
  ])[])('makes one endpoint and one secret when the answer is %s', async (way, meet) => {
    const { gateway, receivers } = setup;
    const name = way.replace(' ', '-');
    const { page } = await setup.member('developer', '/webhooks');
    const again = async (button: string): Promise<string> => {
      await dialog(page).getByRole('button', { name: button, exact: true }).click();
      await dialog(page).getByText('it is not known whether this was done').waitFor();
      await dialog(page).getByRole('button', { name: button, exact: true }).click();
      return takeSecret(page);
    };
    await meetFirst(page, '**/partner/webhook-endpoints', meet);
    await page.getByRole('button', { name: 'Add an endpoint' }).click();
    await page.getByLabel('URL').fill(receivers.url(name, '/hook'));
    const first = await again('Add an endpoint');
    const card = page.locator('.endpoint').filter({ hasText: `${name}.hooks.test` });
    await card.getByRole('button', { name: 'New secret' }).waitFor();
    expect(await card.count()).toBe(1);

    await meetFirst(page, '**/rotate-secret', meet);
    await card.getByRole('button', { name: 'New secret' }).click();
    const second = await again('New secret');
    await gateway.order();
    await setup.send();
    const [delivery] = receivers.of(name);
    if (!delivery) throw new Error('nothing was delivered');
    // A second rotation would have ended the secret that the receiver has.
    expect([first, second].map((secret) => isVerified(delivery, secret, gateway.clock.now()))).toEqual([true, true]);
  });

  it('does not praise a test that the endpoint refused', async () => {
    const { gateway, receivers } = setup;
    const body = { url: receivers.url('broken', '/hook') };
    await gateway.call('POST', '/partner/webhook-endpoints', { key: gateway.key, body });
    receivers.behave('broken', answerWith(500, 'no'));
    const { page } = await setup.member('developer', '/webhooks');
    const card = page.locator('.endpoint').filter({ hasText: 'broken.hooks.test' });
    await card.getByRole('button', { name: 'Send a test event' }).click();
    await setup.sendUntil(card.locator('.bad-text').filter({ hasText: 'did not accept the test event' }).waitFor());
  });

  it('follows a role that was taken away while its page is open', async () => {
    const { gateway, receivers } = setup;
    const body = { url: receivers.url('role', '/hook') };
    await gateway.call('POST', '/partner/webhook-endpoints', { key: gateway.key, body });
    const { page } = await setup.member('developer', '/webhooks');
    const waiting = page.getByRole('button', { name: 'Waiting' }).first();
    await waiting.waitFor();
    await gateway.query(
      `update partner_member set role = 'viewer' where id = (select id from partner_member order by id desc limit 1)`,
    );
    await waiting.click();
    await page.getByText('Your role does not show this page').waitFor();
    const shown = page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Webhooks' });
    expect(await shown.count()).toBe(0);
  });

  it('goes one page on, also when the button is pressed twice', async () => {
    const { page, open } = await setup.member('owner');
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    await page.route('**/cabinet/api/audit?*', async (route) => {
      const isSecond = route.request().url().includes('cursor=');
      if (isSecond) await released;
      return route.fulfill({ json: { data: [], has_more: !isSecond, next_cursor: isSecond ? null : 'second' } });
    });
    await open('/team');
    const after = page.getByRole('button', { name: 'After' });
    await after.click();
    expect(await after.isDisabled()).toBe(true);
    release();
    await page.getByRole('button', { name: 'Before' }).click();
    await page.getByRole('button', { name: 'After' }).and(page.locator(':enabled')).waitFor();
    expect(await page.getByRole('button', { name: 'Before' }).isDisabled()).toBe(true);
  });

  it('invites a person with a link shown once, and changes roles', async () => {
    const { page } = await setup.member('owner', '/team');
    await page.getByRole('button', { name: 'Invite a person' }).click();
    await page.getByLabel('Name').fill('Jun Park');
    await page.getByLabel('Role').selectOption('finance');
    await dialog(page).getByRole('button', { name: 'Invite a person' }).click();
    const link = await takeSecret(page);
    await page.getByRole('heading', { name: 'Jun Park' }).waitFor();
    const guest = await setup.visitor();
    await guest.page.goto(link);
    await guest.page.getByText('invites you as finance').waitFor();
    await guest.page.getByRole('button', { name: 'Make a passkey' }).click();
    await guest.page.getByRole('button', { name: 'Later' }).click();
    await guest.page.getByText('Signed in as Jun Park, finance').waitFor();
    await page.reload();
    await keyRow(page, 'Jun Park').getByRole('button', { name: 'Remove' }).click();
    await dialog(page).getByRole('button', { name: 'Remove' }).click();
    await dialog(page).waitFor({ state: 'detached' });
    await guest.page.getByRole('link', { name: 'Orders' }).click();
    await guest.page.getByRole('heading', { name: 'You are signed out' }).waitFor();
  });

  it('shows each refusal at its field, and only there', async () => {
    const { page, open } = await setup.member('owner', '/keys');
    const refused = async (name: string, words: string): Promise<void> => {
      const field = dialog(page).locator(`[name=${name}][aria-invalid]`);
      await field.waitFor();
      const [fault] = (await field.getAttribute('aria-describedby'))?.split(' ') ?? [];
      expect(await page.locator(`[id="${fault}"]`).innerText()).toContain(words);
      expect(await dialog(page).locator('.notice.bad').count()).toBe(0);
      await page.keyboard.press('Escape');
      await dialog(page).waitFor({ state: 'detached' });
    };
    await page.getByRole('button', { name: 'Make a key' }).click();
    await page.getByLabel('Label').fill('Checkout');
    await page.getByLabel('Allowed IP addresses').fill('203.0.113.0/24\nnonsense');
    await dialog(page).getByRole('button', { name: 'Make a key' }).click();
    await refused('networks', "'nonsense' is not an IP range");
    await page.getByRole('button', { name: 'Make a key' }).click();
    await page.getByLabel('Label').fill('x'.repeat(101));
    await dialog(page).getByRole('button', { name: 'Make a key' }).click();
    await refused('label', 'at most 100 characters');
    await open('/team');
    await page.getByRole('button', { name: 'Invite a person' }).click();
    await page.getByLabel('Name').fill('   ');
    await dialog(page).getByRole('button', { name: 'Invite a person' }).click();
    await refused('name', 'must not be empty');
  });

  it('gives months of commission as a table and as CSV, with exact amounts', async () => {
    const { page } = await setup.member('finance', '/commission');
    await page.getByRole('link', { name: 'CSV' }).waitFor();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'CSV' }).click(),
    ]);
    expect(download.suggestedFilename()).toMatch(/commission-\d{4}-\d{2}\.csv/);
    const text = readFileSync((await download.path()) ?? '', 'utf8');
    // The names, and what the one order with a markup earned.
    expect(text.split('\r\n')).toHaveLength(3);
    expect(text).toMatch(/\d+\.\d+/);
  });

  it('keeps a deep link through the sign-in', async () => {
    const { page, open } = await setup.member('viewer', '/orders');
    await page.getByRole('button', { name: /^Signed in as/ }).click();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await open('/orders?status=failed&coin=BTC');
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
    await page.getByRole('heading', { name: 'Orders' }).waitFor();
    expect(pathOf(page)).toBe('/cabinet/orders?status=failed&coin=BTC');
  });

  it('says when a sign-out did not reach the gateway', async () => {
    const { page } = await setup.member('viewer', '/orders');
    await page.route('**/cabinet/api/sign-out', (route) => route.abort());
    await page.getByRole('button', { name: /^Signed in as/ }).click();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByText('You may still be signed in').waitFor();
    await page.unroute('**/cabinet/api/sign-out');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  });

  it('says when another tab signed out, and goes on where it stood after a sign-in', async () => {
    const { page, context } = await setup.member('owner', '/team');
    await page.getByRole('button', { name: 'Invite a person' }).click();
    await page.getByLabel('Name').fill('Half typed');
    const tab = await context.newPage();
    await tab.goto(`${setup.origin}/cabinet/`);
    await tab.getByRole('button', { name: /^Signed in as/ }).click();
    await tab.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'You are signed out' }).waitFor();
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
    await page.getByRole('heading', { name: 'You are signed out' }).waitFor({ state: 'detached' });
    expect(await page.getByLabel('Name').inputValue()).toBe('Half typed');
    await dialog(page).getByRole('button', { name: 'Invite a person' }).click();
    await takeSecret(page);
  });

  it('says when the session has ended by itself', async () => {
    const { page } = await setup.member('viewer', '/orders');
    setup.gateway.clock.advance(48 * 3_600_000);
    // A request of the page's own may find the end first. Then the sign-in lies over the button.
    const failed = page.getByRole('button', { name: 'Failed' });
    await failed.click({ timeout: 5_000 }).catch(() => {});
    await page.getByRole('heading', { name: 'You are signed out' }).waitFor();
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
    await page.getByRole('heading', { name: 'You are signed out' }).waitFor({ state: 'detached' });
    await page.waitForURL(/\/orders(\?status=failed)?$/);
  });

  it('recovers by itself from a restart, and waits as long as a limit says', async () => {
    const { page, open } = await setup.member('owner', '/');
    await page.route('**/cabinet/api/keys', (route) => route.abort());
    await page.getByRole('navigation').getByRole('link', { name: 'Keys' }).click();
    await page.getByText('The gateway does not answer').first().waitFor();
    await page.unroute('**/cabinet/api/keys');
    await page.getByRole('button', { name: 'Make a key' }).waitFor();
    await page.getByText('The gateway does not answer').first().waitFor({ state: 'detached' });

    await page.getByRole('button', { name: 'Make a key' }).click();
    await page.getByLabel('Label').fill('limited');
    const refusal = { detail: 'too many requests', code: 'rate_limited', request_id: '01TEST' };
    await page.route('**/cabinet/api/keys', (route) =>
      route.fulfill({ status: 429, headers: { 'Retry-After': '6' }, json: refusal }),
    );
    await dialog(page).getByRole('button', { name: 'Make a key' }).click();
    await dialog(page)
      .getByRole('button', { name: /Wait \d s/ })
      .waitFor();
    await page.unroute('**/cabinet/api/keys');
    await dialog(page).getByRole('button', { name: 'Make a key' }).click();
    await takeSecret(page);

    await page.route('**/cabinet/api/home', (route) =>
      route.fulfill({ status: 429, headers: { 'Retry-After': '3' }, json: refusal }),
    );
    await open('/');
    await page.getByText('The page asks again in 3 s').waitFor();
    await page.unroute('**/cabinet/api/home');
    await page.getByText('Orders today').waitFor();
  });

  it('is reached by the keyboard alone', async () => {
    const { page } = await setup.member('owner', '/');
    await page.locator('body').press('g');
    await page.keyboard.press('k');
    await page.getByRole('heading', { name: 'Keys', exact: true }).waitFor();
    await page.keyboard.press('?');
    await dialog(page).getByText('This help').waitFor();
    await page.keyboard.press('Escape');
    await dialog(page).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Make a key' }).focus();
    await page.keyboard.press('Enter');
    await page.getByLabel('Label').waitFor();
  });

  it('loads less than 150 kB before its first page is whole', () => {
    const manifest = JSON.parse(readFileSync('web/dist/cabinet/.vite/manifest.json', 'utf8')) as Record<
      string,
      { readonly file: string; readonly imports?: readonly string[]; readonly css?: readonly string[] }
    >;
    const files = new Set<string>();
    const add = (name: string): void => {
      const chunk = manifest[name];
      if (!chunk || files.has(chunk.file)) return;
      for (const file of [chunk.file, ...(chunk.css ?? [])]) files.add(file);
      for (const imported of chunk.imports ?? []) add(imported);
    };
    for (const name of ['index.html', 'pages/home.tsx', '../ui/plot.tsx']) add(name);
    const bytes = [...files].map((file) => gzipSync(readFileSync(`web/dist/cabinet/${file}`), { level: 9 }).length);
    const total = bytes.reduce((sum, size) => sum + size, 0);
    expect([...files].some((file) => file.includes('plot'))).toBe(true);
    expect(total).toBeGreaterThan(50_000);
    expect(total).toBeLessThan(150_000);
  });

  it('asked no other host in all this, and no policy stopped it', () => {
    expect([...setup.hosts]).toEqual([new URL(setup.origin).host]);
    // The browser reports each refusal that a test caused on purpose.
    expect(setup.complaints.filter((text) => !text.startsWith('Failed to load resource'))).toEqual([]);
  });
});
