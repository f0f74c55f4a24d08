import type { Page } from 'playwright-core';
import { type CabinetSetup, settledCabinet, setUpCabinet } from '../support/cabinet/cabinet.ts';
import { orderBody } from '../support/gateway/orders.ts';
import { describeInBrowser } from '../support/staff/chromium.ts';
import { axeFaults, overflow } from '../support/staff/console.ts';
import { picture } from '../support/staff/pictures.ts';
import { answerWith } from '../support/webhooks/receiver.ts';

/** The first day of a partner: from its invitation to its commission, in one sitting. */
describeInBrowser('an owner of a new partner', () => {
  let setup: CabinetSetup;
  beforeAll(async () => {
    setup = await setUpCabinet();
  });
  afterAll(() => setup?.stop());

  const dialog = (page: Page) => page.getByRole('dialog');

  async function see(page: Page, name: string): Promise<void> {
    await settledCabinet(page);
    await page.evaluate('Promise.all(document.getAnimations().map((one) => one.finished.catch(() => {})))');
    await picture(page, `cabinet/${name}-1280-light`);
    expect([name, await overflow(page)]).toEqual([name, 0]);
    expect([name, await axeFaults(page)]).toEqual([name, []]);
  }

  async function takeSecret(page: Page): Promise<string> {
    const secret = (await dialog(page).locator('.secret code').innerText()).trim();
    await page.getByRole('button', { name: /^I have (stored|sent) it$/ }).click();
    await dialog(page).waitFor({ state: 'detached' });
    return secret;
  }

  const act = async (page: Page, name: string, fill: Readonly<Record<string, string>> = {}): Promise<void> => {
    await page.getByRole('button', { name, exact: true }).first().click();
    for (const [label, text] of Object.entries(fill)) await dialog(page).getByLabel(label).fill(text);
    await dialog(page).getByRole('button', { name, exact: true }).click();
  };

  it('goes from the invitation to a paid order, webhooks, people and commission', async () => {
    const { gateway, receivers } = setup;
    const partner = await gateway.partners.create('New shop');
    await gateway.partners.change(partner.id, { orderPage: true, displayName: 'New shop' });
    const { link } = await setup.people.members.invite(partner.id, { name: 'Ada Osei', role: 'owner' }, null);
    const { page, addDevice } = await setup.visitor({ bypassCSP: true });
    const go = async (name: string): Promise<void> => {
      await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name, exact: true }).click();
      await page.getByRole('heading', { name, exact: true, level: 1 }).waitFor();
    };

    await page.goto(link);
    await page.getByRole('button', { name: 'Make a passkey' }).click();
    await page.getByRole('heading', { name: 'One more passkey' }).waitFor();
    await addDevice('usb');
    await page.getByRole('button', { name: 'Make a second passkey' }).click();
    await page.getByRole('heading', { name: 'Home' }).waitFor();
    await page.getByText('No key is live. Make one').waitFor();
    await see(page, 'home-empty');
    for (const [name, says] of [
      ['Orders', 'No order yet'],
      ['Webhooks', 'No endpoint yet'],
      ['Commission', 'No commission yet'],
    ] as const) {
      await go(name);
      await page.getByText(says).waitFor();
      await see(page, `${name.toLowerCase()}-empty`);
    }

    await go('Orders');
    const guide = await page.getByRole('link', { name: 'How to create the first one' }).getAttribute('href');
    expect((await page.request.get(`${setup.origin}${guide}`)).status()).toBe(200);

    await page.getByRole('link', { name: 'Home', exact: true }).click();
    await page.getByRole('link', { name: 'Make a key' }).click();
    await act(page, 'Make a key', { Label: 'Checkout' });
    const key = await takeSecret(page);
    await go('Webhooks');
    await act(page, 'Add an endpoint', { URL: receivers.url('walk', '/hook') });
    expect(await takeSecret(page)).toMatch(/^whsec_/);
    receivers.behave('walk', answerWith(204, ''));
    await page.getByRole('button', { name: 'Send a test event' }).click();
    await page.getByText('The test event is on its way').waitFor();
    const rows = page.locator('.delivery-row');
    await setup.sendUntil(rows.filter({ hasText: 'endpoint.test' }).filter({ hasText: 'Delivered' }).waitFor());
    await page.getByText('Your endpoint accepted the test event.').waitFor();

    const made = await gateway.call('POST', '/partner/orders', {
      key,
      body: orderBody({ refund_address: undefined, external_id: 'first-1' }),
    });
    expect(made.status).toBe(201);
    await setup.send();
    await rows.filter({ hasText: 'order.created' }).first().locator('summary').click();
    await page.getByRole('button', { name: 'Replay' }).first().click();
    await page.getByText('It is sent again.').waitFor();
    await setup.send();
    await rows.filter({ hasText: 'Redelivery' }).first().waitFor();

    await go('Orders');
    await page.getByRole('link', { name: made.json.short_id }).click();
    const publicUrl = await page.getByRole('link', { name: 'Open', exact: true }).getAttribute('href');
    const shown = await page.context().newPage();
    await shown.goto(`${setup.origin}${new URL(publicUrl ?? '').pathname}`);
    await shown.getByRole('heading', { name: /^Send 0\.\d+ BTC$/ }).waitFor();
    await shown.getByText('New shop').first().waitFor();
    await shown.close();

    await go('IP addresses');
    await page.getByRole('button', { name: 'Change IP addresses of Checkout' }).click();
    await dialog(page).getByLabel('Allowed IP addresses').fill('127.0.0.1');
    await dialog(page).getByRole('button', { name: 'Set the IP addresses' }).click();
    await page.getByText('127.0.0.1/32').waitFor();
    const list = await gateway.call('GET', '/partner/orders', { key });
    expect(list.status).toBe(200);

    await go('Limits');
    const openOrders = page.locator('.limit-rows li').filter({ hasText: 'Open orders' });
    await openOrders
      .getByText(/^1 of /)
      .first()
      .waitFor();
    await page.locator('.limit-rows li').filter({ hasText: 'Live keys' }).getByText('1 of 5').first().waitFor();

    await go('Team');
    await act(page, 'Invite a person', { Name: 'Jun Park' });
    expect(await takeSecret(page)).toContain('/cabinet/invitation#');
    await page.getByText('Set the IP addresses of a key').waitFor();
    await see(page, 'team-active');
    expect(setup.complaints.filter((text) => !text.startsWith('Failed to load resource'))).toEqual([]);
  }, 300_000);
});
