import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { describeInBrowser } from '../support/staff/chromium.ts';
import { axeFaults, type ConsoleSetup, consoleUrl, overflow, settled, setUpConsole } from '../support/staff/console.ts';
import { newMember } from '../support/staff/staff-client.ts';

describeInBrowser('the work of staff in the console', () => {
  let setup: ConsoleSetup;
  beforeAll(async () => {
    setup = await setUpConsole();
  });
  afterAll(() => setup?.stop());
  afterEach(() => setup.closeAll());

  /** A held order and the text that names its item. */
  async function heldOrder(): Promise<{ id: string; shortId: string }> {
    const { id } = await setup.gateway.order();
    const support = await newMember(setup.gateway, 'support');
    await support.data(`mutation { orderHold(orderId: "${id}", reason: "odd") { id } }`);
    const { order } = await support.data(`{ order(id: "${id}") { shortId } }`);
    return { id, shortId: order.shortId };
  }

  const itemOf = (page: Page, { shortId }: { shortId: string }) =>
    page.getByRole('listitem').filter({ hasText: shortId });

  it('shows percentiles of the time in status, and the figures of the REST API', async () => {
    const page = await setup.open('viewer', '/?days=90');
    await settled(page);
    const times = page.getByRole('group', { name: 'Time in each status' });
    await times.getByRole('row', { name: /^Waiting deposit / }).waitFor();
    const [names, first] = [times.getByRole('columnheader'), times.getByRole('row').nth(1).getByRole('cell')];
    const heads = ['Status', 'Half within', '95 % within', 'Compared', 'Times'];
    expect(await names.allInnerTexts()).toEqual(heads);
    expect((await first.allInnerTexts())[0]).toBe('Waiting deposit');
    expect((await first.allInnerTexts())[2]).toMatch(/^\d+ min/);
    await page.getByText(/^Of all 2,\d{3} orders created in this period\.$/).waitFor();

    const api = page.getByRole('group', { name: 'Requests by endpoint' });
    const creates = api.getByRole('row', { name: /POST \/api\/v1\/partner\/orders / });
    await creates.waitFor();
    const [, perMinute, p50, p99, refused, failed] = await creates.getByRole('cell').allInnerTexts();
    expect(Number(perMinute)).toBeGreaterThan(0);
    for (const latency of [p50, p99]) expect(latency).toMatch(/^[\d.]+ m?s$/);
    expect([refused, failed]).toEqual(['0 %', '0 %']);
  });

  it('gives the orders of a filter as a file, to those who may have it', async () => {
    const page = await setup.open('support', '/orders?status=FAILED,REFUNDED&coin=btc');
    await settled(page);
    const arrives = page.waitForEvent('download');
    await page.getByRole('link', { name: 'CSV' }).focus();
    await page.keyboard.press('Enter');
    const download = await arrives;
    expect(download.suggestedFilename()).toMatch(/^orders-\d{4}-\d\d-\d\d\.csv$/);
    const [, ...lines] = readFileSync(await download.path(), 'utf8')
      .trimEnd()
      .split('\r\n');
    const rows = await setup.gateway.query<{ id: string }>(
      `select id from exchange_order where status in ('failed', 'refunded') and 'BTC' in (coin_from, coin_to)
        order by created_at desc, id desc`,
    );
    expect(rows.length).toBeGreaterThan(0);
    expect(lines.map((line) => line.split(',')[0])).toEqual(rows.map(({ id }) => id));
    expect(new URL(page.url()).pathname).toBe('/console/orders');
    await page.goto(consoleUrl(setup.gateway, '/orders?q=a'));
    await page.getByText('This could not be loaded').waitFor();
    expect(await page.getByRole('link', { name: 'CSV' }).count()).toBe(0);
    await setup.closeAll();

    const viewer = await setup.open('viewer', '/orders');
    await settled(viewer);
    expect(await viewer.getByRole('link', { name: 'CSV' }).count()).toBe(0);
    setup.complaints.splice(0, setup.complaints.length, ...setup.complaints.filter((text) => !text.includes('422')));
  });

  it('shows at once who works on an item, and lets an operator hand it over', async () => {
    const held = await heldOrder();
    const ada = await setup.open('support', '/attention');
    const operator = await setup.open('operator', '/attention');
    await settled(ada);
    await settled(operator);
    const take = itemOf(ada, held).getByRole('button', { name: `Take ${held.shortId}` });
    await take.focus();
    await ada.keyboard.press('Enter');
    await itemOf(ada, held).getByText('You work on it').waitFor();
    // The keyboard stays on the button, which now releases.
    expect(await ada.evaluate('document.activeElement.textContent')).toBe('Put back');
    await itemOf(operator, held).getByText('support@staff.example works on it').waitFor();

    await itemOf(operator, held).getByRole('button', { name: 'Hand over' }).click();
    const dialog = operator.getByRole('dialog');
    await dialog.getByLabel('To').selectOption({ label: 'operator@staff.example' });
    await dialog.getByLabel('Reason').fill('the shift ends');
    await dialog.getByRole('button', { name: 'Hand over' }).click();
    await itemOf(operator, held).getByText('You work on it').waitFor();
    await itemOf(ada, held).getByText('operator@staff.example works on it').waitFor();
    expect(await itemOf(ada, held).getByRole('button').count()).toBe(0);

    await operator.getByRole('button', { name: 'Mine' }).click();
    await operator.waitForURL('**/attention?who=me');
    expect(await operator.locator('.queue li').filter({ hasText: 'works on it' }).count()).toBe(0);
    await itemOf(operator, held)
      .getByRole('button', { name: `Put back ${held.shortId}` })
      .click();
    await itemOf(ada, held)
      .getByRole('button', { name: `Take ${held.shortId}` })
      .waitFor();
  });

  it('tells the loser of a race for an item who won it', async () => {
    const held = await heldOrder();
    // A page that hears of no change.
    const slow = await setup.open('operator', '/attention', {
      prepare: (page) => page.routeWebSocket(/\/graphql$/, () => {}),
    });
    await itemOf(slow, held).waitFor();
    const ada = await setup.open('support', '/attention');
    await itemOf(ada, held).getByRole('button', { name: /^Take/ }).click();
    await itemOf(ada, held).getByText('You work on it').waitFor();
    await itemOf(slow, held).getByRole('button', { name: /^Take/ }).click();
    await itemOf(slow, held)
      .getByRole('alert')
      .getByText('another member acted first: support@staff.example works on this item now')
      .waitFor();
    await itemOf(slow, held).getByText('support@staff.example works on it').waitFor();
  });

  it('keeps views of the order list for the member, by the keyboard, in each browser', async () => {
    const page = await setup.open('viewer', '/orders?status=FAILED,REFUNDED&coin=BTC');
    await settled(page);
    await page.getByRole('button', { name: 'Save view' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').getByLabel('Name').focus();
    await page.keyboard.type('Bitcoin trouble');
    await page.keyboard.press('Enter');
    const chip = page.getByRole('button', { name: 'Bitcoin trouble', exact: true });
    await chip.waitFor();
    expect(await chip.getAttribute('aria-pressed')).toBe('true');
    await setup.closeAll();

    const other = await setup.open('viewer', '/orders?from=2020-01-01');
    await settled(other);
    await other.getByRole('button', { name: 'Bitcoin trouble', exact: true }).focus();
    await other.keyboard.press('Enter');
    await other.waitForURL((url) => url.searchParams.get('status') === 'FAILED,REFUNDED');
    expect(new URL(other.url()).searchParams.get('coin')).toBe('BTC');
    expect(new URL(other.url()).searchParams.has('from')).toBe(false);
    const colleague = await setup.open('admin', '/orders');
    await settled(colleague);
    expect(await colleague.getByRole('button', { name: 'Bitcoin trouble', exact: true }).count()).toBe(0);

    await other.getByRole('button', { name: 'Remove view' }).click();
    await other.getByRole('dialog').getByRole('button', { name: 'Remove view' }).click();
    await other.getByRole('button', { name: 'Bitcoin trouble', exact: true }).waitFor({ state: 'detached' });
    expect(new URL(other.url()).searchParams.get('coin')).toBe('BTC');
  });

  it.each([
    ['light', 390],
    ['dark', 1280],
    ['light', 2560],
  ] as const)('is accessible and fits, %s at %d pixels', async (colorScheme, width) => {
    const held = await heldOrder();
    const page = await setup.open('operator', '/attention', {
      colorScheme,
      viewport: { width, height: 900 },
      bypassCSP: true,
    });
    await itemOf(page, held).getByRole('button', { name: /^Take/ }).click();
    await itemOf(page, held).getByText('You work on it').waitFor();
    for (const path of ['/attention', '/', '/orders?coin=BTC']) {
      await page.goto(consoleUrl(setup.gateway, path));
      await settled(page);
      if (path === '/') await page.getByRole('group', { name: 'Time in each status' }).waitFor();
      expect([path, await axeFaults(page), await overflow(page)]).toEqual([path, [], 0]);
    }
  });

  it('asked no other host in all this, and no policy stopped it', () => {
    expect([...setup.hosts]).toEqual([new URL(setup.gateway.app.internalUrl).host]);
    expect(setup.complaints.filter((text) => !text.includes('WebSocket'))).toEqual([]);
  });
});
