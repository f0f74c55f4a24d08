import { describeInBrowser } from '../support/staff/chromium.ts';
import { axeFaults, type ConsoleSetup, consoleUrl, overflow, settled, setUpConsole } from '../support/staff/console.ts';
import { newMember } from '../support/staff/staff-client.ts';
import { type StaffStates, staffStates } from '../support/staff/staff-states.ts';

/** Picks, filters and names in the console. */
describeInBrowser('the console', () => {
  let setup: ConsoleSetup;
  let states: StaffStates;
  beforeAll(async () => {
    setup = await setUpConsole({ seeded: 0 });
    states = staffStates(setup.gateway, await newMember(setup.gateway, 'admin'));
  });
  afterAll(() => setup?.stop());
  afterEach(async () => {
    await setup.closeAll();
    expect(setup.complaints.splice(0)).toEqual([]);
  });

  it('finds a partner on the server as one types, by the keyboard', async () => {
    // More than a page of the list has, so that the last ones are found by search only.
    for (let number = 10; number < 34; number++) await setup.gateway.partners.create(`Aardvark ${number}`);
    const { id } = await setup.gateway.partners.create('Zebra Coins');
    const page = await setup.open('viewer', '/orders', { bypassCSP: true });
    await settled(page);
    const picker = page.getByRole('combobox', { name: 'Partner' });
    await picker.focus();
    await page.getByText('More partners fit: type on.').waitFor();
    expect(await page.getByRole('option', { name: 'Zebra Coins' }).count()).toBe(0);
    expect(await axeFaults(page)).toEqual([]);
    await page.keyboard.type('zebra');
    await page.getByRole('option', { name: 'Aardvark 10' }).waitFor({ state: 'detached' });
    const found = page.getByRole('option', { name: 'Zebra Coins' });
    await found.waitFor();
    expect(await picker.getAttribute('aria-activedescendant')).toBe(await found.getAttribute('id'));
    await page.keyboard.press('Enter');
    await page.waitForURL(`**/orders?partner=${id}`);
    expect(await page.getByRole('listbox').count()).toBe(0);

    // The address alone names the partner, Escape keeps it, and the first choice ends the filter.
    await page.reload();
    await settled(page);
    await expect(picker.inputValue()).resolves.toBe('Zebra Coins');
    await picker.click();
    await page.keyboard.type('nothing of this name');
    await page.getByText('No partner fits.').waitFor();
    await page.keyboard.press('Escape');
    expect(await picker.inputValue()).toBe('Zebra Coins');
    await picker.click();
    await page.getByRole('option', { name: 'Any partner' }).click();
    await page.waitForURL((url) => !url.searchParams.has('partner'));

    const quote = await setup.open('viewer', '/catalogue?tab=quote', { viewport: { width: 390, height: 844 } });
    await settled(quote);
    await quote.getByRole('combobox', { name: 'Partner' }).click();
    await quote.getByRole('option', { name: 'Aardvark 10' }).waitFor();
    expect(await overflow(quote)).toBe(0);
    await quote.getByRole('option', { name: 'Aardvark 10' }).click();
    await quote.getByRole('button', { name: 'Get the quote' }).click();
    await quote.getByText('Service fee').waitFor();
  });

  it('filters orders by the days of a period, and the file as well', async () => {
    const page = await setup.open('admin', '/orders?status=FAILED');
    await settled(page);
    const today = new Date().toISOString().slice(0, 10);
    await page.getByRole('button', { name: 'This month' }).click();
    await page.waitForURL(`**/orders?status=FAILED&from=${today.slice(0, 8)}01&to=${today}`);
    const csv = new URL((await page.getByRole('link', { name: 'CSV' }).getAttribute('href')) ?? '', page.url());
    expect(csv.searchParams.get('from')).toBe(`${today.slice(0, 8)}01`);
    await page.getByRole('button', { name: 'Today' }).click();
    await page.waitForURL(`**/orders?status=FAILED&from=${today}&to=${today}`);
    await page.getByRole('button', { name: 'Today', pressed: true }).click();
    await page.waitForURL((url) => !url.searchParams.has('from') && !url.searchParams.has('to'));
  });

  it('filters the balances of the ledger, in the address', async () => {
    const order = await states.paidIn();
    await setup.gateway.settle(order);
    const page = await setup.open('admin', '/money', { bypassCSP: true });
    await settled(page);
    const card = page.getByRole('region', { name: 'Balances of the ledger' });
    const rows = card.locator('tbody tr');
    await rows.first().waitFor();
    const all = await rows.count();
    await card.getByText(`${all}, none of zero`).waitFor();
    await card.getByLabel('Coin').selectOption('BTC');
    await page.waitForURL('**/money?coin=BTC');
    const [{ lines } = { lines: 0 }] = await setup.gateway.query<{ lines: number }>(
      `select count(*)::int as lines from (select 1 from ledger_line where coin = 'BTC'
         group by account, network having sum(amount) <> 0) as balance`,
    );
    expect(lines).toBeLessThan(all);
    await card.getByText(`${lines} of ${all}, none of zero`).waitFor();
    await page.reload();
    await settled(page);
    await rows.first().waitFor();
    for (const row of await rows.all()) expect(await row.innerText()).toContain('BTC');
    await card.getByLabel('Account', { exact: true }).selectOption({ index: 1 });
    expect(await axeFaults(page)).toEqual([]);
    await card.getByRole('button', { name: 'Clear' }).click();
    await page.waitForURL('**/money');
    expect(await rows.count()).toBe(all);
  });

  it('names the objects of the audit log, and tells a proposal from an act', async () => {
    const order = await states.heldOrder();
    await states.proposedRelease(order);
    const { short_id: shortId } = await setup.gateway.show(order);
    const page = await setup.open('operator', `/audit?target=order:${order.id}`);
    await settled(page);
    const entries = page.getByRole('listitem').filter({ has: page.getByRole('link', { name: `order ${shortId}` }) });
    await entries.filter({ hasText: 'Proposed: release' }).waitFor();
    expect(await entries.count()).toBe(2);
    await entries.filter({ hasText: 'orderHold' }).getByRole('link', { name: shortId }).click();
    await page.getByRole('heading', { name: shortId }).waitFor();
  });

  it('tells the reason of a hold among the items, to those who may read it', async () => {
    const order = await states.heldOrder();
    const { short_id: shortId } = await setup.gateway.show(order);
    for (const role of ['support', 'viewer'] as const) {
      const page = await setup.open(role, '/attention');
      await settled(page);
      const item = page.getByRole('listitem').filter({ hasText: shortId }).filter({ hasText: 'Held by staff' });
      await item.waitFor();
      expect(await item.getByText(': odd').count()).toBe(role === 'support' ? 1 : 0);
    }
  });

  it('shows the limits in force with their numbers, and ends a page link only where there is one', async () => {
    const id = await states.partnerId();
    await setup.gateway.partners.change(id, { maxOpenOrders: 77 });
    const page = await setup.open('admin', `/partners/${id}`);
    await settled(page);
    const terms = page.getByRole('region', { name: 'Fees and limits' });
    await terms.getByText('77 its own').waitFor();
    await terms.getByText('100,000 default').first().waitFor();
    await terms.getByText('500 bp default').waitFor();

    const order = await states.orderWithPage();
    await page.goto(consoleUrl(setup.gateway, `/orders/${order.id}`));
    await page.getByRole('button', { name: 'End page link' }).waitFor();
    await states.made(`orderPageRevoke(orderId: "${order.id}", reason: "x")`);
    await page.reload();
    await page.getByRole('button', { name: 'New page link' }).waitFor();
    expect(await page.getByRole('button', { name: 'End page link' }).count()).toBe(0);
  });
});
