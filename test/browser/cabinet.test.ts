import type { Page } from 'playwright-core';
import { type CabinetSetup, settledCabinet, setUpCabinet } from '../support/cabinet/cabinet.ts';
import { describeInBrowser } from '../support/staff/chromium.ts';

describeInBrowser('the cabinet', () => {
  let setup: CabinetSetup;
  beforeAll(async () => {
    setup = await setUpCabinet();
  });
  afterAll(() => setup?.stop());
  afterEach(() => setup.closeAll());

  it('takes an invitation once, and keeps its token out of the history', async () => {
    const link = await setup.invite('Ada Osei', 'owner');
    const { page, addDevice } = await setup.visitor();
    await page.goto(link);
    await page.getByRole('heading', { name: 'Welcome, Ada Osei' }).waitFor();
    expect(page.url()).toBe(`${setup.origin}/cabinet/invitation`);
    await page.getByRole('button', { name: 'Make a passkey' }).click();
    await page.getByRole('heading', { name: 'One more passkey' }).waitFor();
    // The first device refuses to hold a second passkey of the same account.
    await addDevice('usb');
    await page.getByRole('button', { name: 'Make a second passkey' }).click();
    await page.getByRole('heading', { name: 'Home' }).waitFor();
    await page.goto(`${setup.origin}/cabinet/me`);
    await page.getByRole('button', { name: 'Remove' }).first().waitFor();
    expect(await page.getByRole('button', { name: 'Remove' }).count()).toBe(2);

    const other = await setup.visitor();
    await other.page.goto(link);
    await other.page.getByRole('heading', { name: 'This invitation does not work' }).waitFor();
    await other.page.reload();
    await other.page.getByRole('heading', { name: 'Open the link again' }).waitFor();
  });
});

export type { Page };
