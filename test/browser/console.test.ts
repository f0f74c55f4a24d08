import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import type { Page, WebSocketRoute } from 'playwright-core';
import { describeInBrowser } from '../support/staff/chromium.ts';
import { type ConsoleSetup, consoleUrl, overflow, settled, setUpConsole } from '../support/staff/console.ts';
import { newMember } from '../support/staff/staff-client.ts';

describeInBrowser('the console', () => {
  let setup: ConsoleSetup;
  beforeAll(async () => {
    setup = await setUpConsole();
  });
  afterAll(() => setup?.stop());
  afterEach(() => setup.closeAll());

  const pathOf = (page: Page): string => page.url().slice(new URL(page.url()).origin.length);

  it('keeps a deep link through the sign-in, and the policy of each answer', async () => {
    const page = await setup.open('viewer', '/orders?status=FAILED&coin=BTC');
    expect(pathOf(page)).toBe('/console/orders?status=FAILED&coin=BTC');
    await settled(page);
    const own = new URL(page.url());
    const answer = await page.request.get(page.url());
    expect(answer.headers()['content-security-policy']).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; " +
        `connect-src 'self' ws://${own.host}; img-src 'self' data:; font-src 'self'; base-uri 'none'; ` +
        "form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'",
    );
    expect(answer.headers()['cache-control']).toBe('no-store');
    const [, script = ''] = /<script type="module" crossorigin src="([^"]+)"/.exec(await answer.text()) ?? [];
    for (const encoding of ['br', 'gzip']) {
      const asset = await fetch(own.origin + script, { headers: { 'Accept-Encoding': encoding } });
      expect(asset.headers.get('content-encoding')).toBe(encoding);
      expect(asset.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
      expect(await asset.text()).toContain('createElement');
    }
    expect((await fetch(`${own.origin}/console/assets/nothing.js`)).status).toBe(404);
    expect((await fetch(`${own.origin}/console/index.html`)).status).toBe(404);
  });

  it('restores filters by the back button, and finds an order by the search', async () => {
    const page = await setup.open('viewer', '/orders');
    await page.getByRole('button', { name: 'Completed' }).click();
    await page.getByLabel('Coin', { exact: true }).fill('eth');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/orders?status=COMPLETED&coin=eth');
    await page.goBack();
    await page.waitForURL('**/orders?status=COMPLETED');
    expect(await page.getByRole('button', { name: 'Completed' }).getAttribute('aria-pressed')).toBe('true');
    await page.getByRole('heading', { name: 'Orders' }).click();
    await page.keyboard.press('/');
    await page.keyboard.type(setup.waiting.depositAddress.slice(0, 20));
    await page.keyboard.press('Enter');
    await page.waitForURL('**/orders?q=*');
    const { short_id } = await setup.gateway.show(setup.waiting);
    await page.getByRole('link', { name: short_id }).click();
    await page.getByRole('heading', { name: short_id }).waitFor();
    await page
      .getByRole('img', { name: new RegExp(`^The payment of .* to ${setup.waiting.depositAddress}$`) })
      .waitFor();
    await page.keyboard.press('g');
    await page.keyboard.press('c');
    await page.getByRole('heading', { name: 'Chains', exact: true }).waitFor();
    await page.keyboard.press('?');
    await page.getByRole('dialog').getByText('Search orders').waitFor();
  });

  it('offers each role what it may do, and says what a page needs', async () => {
    const seen: Record<string, unknown> = {};
    for (const role of ['viewer', 'support', 'operator', 'admin'] as const) {
      const page = await setup.open(role, `/orders/${setup.failed.id}`);
      await settled(page);
      const places = await page.getByRole('navigation', { name: 'Pages' }).getByRole('link').allInnerTexts();
      seen[role] = {
        actions: await page.locator('.page-head button').allInnerTexts(),
        notes: await page.getByRole('button', { name: 'Add the note' }).count(),
        ledger: await page.getByRole('heading', { name: 'Ledger' }).count(),
        places: places.filter((name) => ['Audit log', 'Staff'].includes(name.trim())).map((name) => name.trim()),
      };
      if (role === 'support') {
        await page.goto(consoleUrl(setup.gateway, '/audit'));
        await page.getByText('It needs the permission audit:read').waitFor();
      }
      await setup.closeAll();
    }
    const all = ['Hold', 'Retry payout', 'Refund'];
    expect(seen).toEqual({
      viewer: { actions: [], notes: 0, ledger: 0, places: [] },
      support: { actions: ['Hold'], notes: 1, ledger: 1, places: [] },
      operator: { actions: all, notes: 1, ledger: 1, places: ['Audit log'] },
      admin: { actions: all, notes: 1, ledger: 1, places: ['Audit log', 'Staff'] },
    });
  });

  it('holds an order at once, and lets only another member approve its release', async () => {
    const order = await setup.gateway.order();
    const first = await setup.open('operator', `/orders/${order.id}`);
    const second = await setup.open('admin', `/orders/${order.id}`);
    await settled(second);
    await first.getByRole('button', { name: 'Hold' }).click();
    await first.getByLabel('Reason').fill('the customer asked us to wait');
    await first.getByRole('dialog').getByRole('button', { name: 'Hold' }).click();
    await first.getByText('Nothing is paid until it is released').waitFor();

    await first.getByRole('button', { name: 'Release' }).click();
    await first.getByText('nothing happens until a second member approves it').waitFor();
    await first.getByLabel('Reason').fill('the customer called again');
    await first.getByRole('button', { name: 'Propose' }).click();
    await first.getByText('Another member must approve it: you proposed it').waitFor();
    expect(await first.getByRole('button', { name: 'Approve' }).count()).toBe(0);
    expect(await first.getByRole('button', { name: 'Withdraw' }).count()).toBe(1);

    await second.reload();
    await second.getByRole('button', { name: 'Approve' }).click();
    await second.getByLabel('Reason').fill('agreed');
    await second.getByRole('dialog').getByRole('button', { name: 'Approve' }).click();
    await second.getByText('Release approved').waitFor();
    expect(
      (await setup.gateway.query('select 1 from exchange_order where id = $1 and held_at is null', [order.id])).length,
    ).toBe(1);
  });

  it('disables Approve for a member who may not approve yet, and says from when it is possible', async () => {
    const order = await setup.gateway.order();
    const proposer = await newMember(setup.gateway, 'operator');
    await proposer.data('mutation ($id: ID!) { orderHold(orderId: $id, reason: "odd") { id } }', { id: order.id });
    await proposer.data('mutation ($id: ID!) { orderRelease(orderId: $id, reason: "fine") { id } }', { id: order.id });
    const page = await setup.open('admin', `/orders/${order.id}`);
    const approve = page.getByRole('button', { name: 'Approve' });
    const tomorrow = new Date(Date.now() + 86_400_000);
    const shown = `possible from ${tomorrow.toISOString().slice(0, 10)}`;
    for (const email of ['admin@staff.example', proposer.email]) {
      const setDelay = (until: Date | null) =>
        setup.gateway.query('update staff_member set approves_from = $1 where email = $2', [until, email]);
      await setDelay(tomorrow);
      for (const path of [`/orders/${order.id}`, '/attention']) {
        await page.goto(consoleUrl(setup.gateway, path));
        await page.getByText(shown).first().waitFor();
        expect(await approve.first().isDisabled()).toBe(true);
      }
      await setDelay(null);
      await page.goto(consoleUrl(setup.gateway, `/orders/${order.id}`));
      await approve.waitFor();
      expect([await approve.isEnabled(), await page.getByText('possible from').count()]).toEqual([true, 0]);
    }
  });

  it('says in text that it is live, also on a telephone', async () => {
    const page = await setup.open('viewer', '/', { viewport: { width: 390, height: 844 } });
    await settled(page);
    const mark = page.getByRole('status').filter({ hasText: 'Live' });
    expect(await mark.innerText()).toBe('Live');
    const size = await page.evaluate("getComputedStyle(document.querySelector('.live-mark')).fontSize");
    expect(Number.parseFloat(String(size))).toBeGreaterThanOrEqual(10);
    expect(await overflow(page)).toBe(0);
  });

  it('keeps what was typed when the server refuses it, with the request id', async () => {
    const page = await setup.open('admin', '/catalogue?tab=quote');
    await page.getByLabel('Amount').fill('0.00000001');
    await page.getByRole('button', { name: 'Get the quote' }).click();
    await page
      .getByRole('alert')
      .getByText(/request 01/)
      .waitFor();
    expect(await page.getByLabel('Amount').inputValue()).toBe('0.00000001');
    await page.getByLabel('Amount').fill('0.01');
    await page.getByRole('button', { name: 'Get the quote' }).click();
    await page.getByText('User gets').waitFor();
  });

  it('recovers from a dropped socket, and shows what happened meanwhile', async () => {
    const sockets: WebSocketRoute[] = [];
    let isCut = false;
    const page = await setup.open('viewer', '/orders', {
      prepare: (opened) =>
        opened.routeWebSocket(/\/graphql$/, (socket) => {
          if (isCut) void socket.close({ code: 1013, reason: 'refused' });
          else {
            socket.connectToServer();
            sockets.push(socket);
          }
        }),
    });
    await settled(page);
    const live = await setup.gateway.order();
    await page.getByRole('button', { name: /move.* · show/ }).click();
    await page.getByRole('link', { name: (await setup.gateway.show(live)).short_id }).waitFor();

    isCut = true;
    await sockets[0]?.close({ code: 1012, reason: 'restart' });
    await page.locator('.live-mark.connecting').waitFor();
    await page.locator('.live-mark.polling').waitFor();
    const missed = await setup.gateway.order();
    isCut = false;
    await page.locator('.live-mark.live').waitFor();
    await page.getByRole('link', { name: (await setup.gateway.show(missed)).short_id }).waitFor();
  });

  it('tells the loser of a race that another member acted first', async () => {
    const order = await setup.gateway.order();
    const first = await setup.open('admin', `/orders/${order.id}`);
    await settled(first);
    for (const [action, button] of [
      ['Hold', 'Hold'],
      ['Release', 'Propose'],
    ] as const) {
      await first.getByRole('button', { name: action }).click();
      await first.getByLabel('Reason').fill('to be decided by two');
      await first.getByRole('dialog').getByRole('button', { name: button }).click();
      await first.getByRole('dialog').waitFor({ state: 'detached' });
    }
    const second = await setup.open('operator', `/orders/${order.id}`);
    await settled(second);
    await second.getByRole('button', { name: 'Approve' }).click();
    await second.getByLabel('Reason').fill('agreed');
    await first.getByRole('button', { name: 'Withdraw' }).click();
    await first.getByLabel('Reason').fill('a mistake');
    await first.getByRole('dialog').getByRole('button', { name: 'Withdraw' }).click();
    await first.getByRole('dialog').waitFor({ state: 'detached' });
    await second.getByRole('dialog').getByRole('button', { name: 'Approve' }).click();
    await second.getByRole('alert').getByText('another member acted first').waitFor();
    expect(await second.getByLabel('Reason').inputValue()).toBe('agreed');
  });

  it('lists own sessions, and ends another one for a reason', async () => {
    const forgotten = await setup.open('support', '/orders');
    await settled(forgotten);
    const page = await setup.open('support', '/me');
    const others = page.getByRole('listitem').filter({ hasText: 'Another browser' });
    await page.getByText('This browser').waitFor();
    const before = await others.count();
    await others.first().getByRole('button', { name: 'End' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'End' }).click();
    expect(await page.evaluate('document.querySelector("dialog textarea").validity.valueMissing')).toBe(true);
    await dialog.getByLabel('Reason').fill('left in the office');
    await dialog.getByRole('button', { name: 'End' }).click();
    await dialog.waitFor({ state: 'detached' });
    await others.nth(before - 1).waitFor({ state: 'detached' });
    expect(before).toBeGreaterThan(0);
    const answer = await forgotten.request.get(consoleUrl(setup.gateway, '/orders'), { maxRedirects: 0 });
    expect(answer.status()).toBe(302);
    await forgotten.close();
  });

  it('filters the audit log by operation and day, in the address', async () => {
    const { id } = await setup.gateway.order();
    const page = await setup.open('admin', `/orders/${id}`);
    await settled(page);
    await page.getByRole('button', { name: 'Hold' }).click();
    await page.getByLabel('Reason').fill('seen in the audit log');
    await page.getByRole('dialog').getByRole('button', { name: 'Hold' }).click();
    await page.getByText('Nothing is paid until it is released').waitFor();
    await page.goto(consoleUrl(setup.gateway, '/audit?operation=orderHold'));
    await page.getByText('seen in the audit log').waitFor();
    await page.getByLabel('From day (UTC)').fill('2020-01-01');
    await page.waitForURL('**/audit?operation=orderHold&from=2020-01-01');
    await page.getByText('seen in the audit log').waitFor();
    await page.getByLabel('To day (UTC)').fill('2020-01-02');
    await page.getByText('No action fits').waitFor();
    await page.getByLabel('Operation').fill('');
    await page.getByLabel('Operation').press('Enter');
    await page.waitForURL('**/audit?from=2020-01-01&to=2020-01-02');
  });

  it('serves the licences of its packages', async () => {
    const answer = await fetch(consoleUrl(setup.gateway, '/licences.md'));
    expect(answer.status).toBe(200);
    expect(await answer.text()).toContain('react');
  });

  it('leads to the sign-in when the session has ended, and back', async () => {
    const page = await setup.open('viewer', '/partners');
    await settled(page);
    setup.gateway.clock.advance(31 * 60_000);
    // A request of the page's own may find the end first. Then the link is gone before the click.
    const money = page.getByRole('link', { name: 'Money' });
    await money.click({ timeout: 5_000 }).catch(() => {});
    // Two refused requests lead there twice, and the second navigation aborts the first.
    while (!/\/sign-in\?return_to=%2Fconsole%2F(money|partners)$/.test(page.url())) await sleep(50);
    // The refused request is a 401, which the browser reports as well.
    setup.complaints.splice(0, setup.complaints.length, ...setup.complaints.filter((text) => !text.includes('401')));
  });

  it('loads less than 200 kB before its first page', () => {
    const manifest = JSON.parse(readFileSync('web/dist/console/.vite/manifest.json', 'utf8')) as Record<
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
    for (const name of ['index.html', 'pages/overview.tsx']) add(name);
    const bytes = [...files].map((file) => gzipSync(readFileSync(`web/dist/console/${file}`), { level: 9 }).length);
    const total = bytes.reduce((sum, size) => sum + size, 0);
    expect(files.size).toBeGreaterThan(4);
    expect(total).toBeGreaterThan(50_000);
    expect(total).toBeLessThan(200_000);
  });

  it('asked no other host in all this, and no policy stopped it', () => {
    expect([...setup.hosts]).toEqual([new URL(setup.gateway.app.internalUrl).host]);
    // The browser reports a socket that was refused on purpose.
    expect(setup.complaints.filter((text) => !text.includes('WebSocket'))).toEqual([]);
  });
});
