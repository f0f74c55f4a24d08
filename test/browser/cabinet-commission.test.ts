import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { Locator, Page } from 'playwright-core';
import { addressExample } from '../../src/chains/addresses/address.ts';
import { addressWaitMs } from '../../src/settlement/commission/commission-addresses.ts';
import { type CabinetSetup, settledCabinet, setUpCabinet, type Visitor } from '../support/cabinet/cabinet.ts';
import { describeInBrowser } from '../support/staff/chromium.ts';
import { axeFaults, overflow } from '../support/staff/console.ts';

/** The page Commission: the address that a passkey sets, and a month until it is paid. */
describeInBrowser('the page Commission', () => {
  let setup: CabinetSetup;
  /** The month that is closed, such as '2026-11'. */
  let month: string;
  beforeAll(async () => {
    setup = await setUpCabinet({ COMMISSION_MIN_USD: '1', RECONCILE_EVERY_SEC: '0', PRICE_MAX_AGE_SEC: '31536000' });
    const { gateway } = setup;
    const order = await gateway.order({ amount_from: 0.1, rate_type: 'float', markup_bps: 100 });
    await gateway.deposit(order);
    await gateway.settle(order);
    const now = gateway.clock.now();
    month = now.toISOString().slice(0, 7);
    const closing = Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1, 0, 6);
    gateway.clock.advance(closing - now.getTime());
    await gateway.settlement.commission.run();
  });
  afterAll(() => setup?.stop());
  afterEach(() => setup.closeAll());

  const own = addressExample('ERC20');
  const dialog = (page: Page, name: string): Locator => page.getByRole('dialog', { name });
  const card = (page: Page, name: string): Locator => page.getByRole('region', { name });
  const address = (page: Page): Locator => card(page, 'Address');

  async function hasNoFault(page: Page): Promise<void> {
    await page.evaluate('Promise.all(document.getAnimations().map((one) => one.finished.catch(() => {})))');
    expect(await overflow(page)).toBe(0);
    expect(await axeFaults(page)).toEqual([]);
  }

  /** Fills the form of an address, and goes on to what the passkey confirms. */
  async function ask(page: Page, of: string): Promise<Locator> {
    await dialog(page, 'Another address for your commission').locator('[name=address]').fill(of);
    await page.getByRole('button', { name: 'Continue' }).click();
    return dialog(page, 'Is this your address?');
  }

  async function setAddress({ page }: Visitor): Promise<void> {
    await page.getByRole('button', { name: 'Set an address' }).click();
    await (await ask(page, own)).getByRole('button', { name: 'Confirm' }).click();
    await address(page).getByText('Takes effect').waitFor();
    await page.getByRole('dialog').first().waitFor({ state: 'detached' });
  }

  it('shows what the passkey confirms, and each refusal at its field', async () => {
    const { page } = await setup.member('owner', '/commission', { bypassCSP: true });
    await page.getByRole('button', { name: 'Set an address' }).click();
    const form = dialog(page, 'Another address for your commission');
    expect(await form.getByLabel('Coin and network').inputValue()).toBe('USDC on ERC20');
    expect(await form.getByLabel('The address in effect is lost').count()).toBe(0);
    await form.getByLabel('Coin and network').selectOption('XRP');
    await form.getByLabel('Destination tag').fill('no tag');
    await (await ask(page, addressExample('XRP'))).getByRole('button', { name: 'Confirm' }).click();
    await form.locator('[name=tag][aria-invalid]').waitFor();
    await form.getByLabel('Coin and network').selectOption('USDC on ERC20');
    expect(await form.getByLabel('Destination tag').count()).toBe(0);
    await hasNoFault(page);
    await (await ask(page, 'nonsense')).getByRole('button', { name: 'Confirm' }).click();
    const field = form.locator('[name=address][aria-invalid]');
    await field.waitFor();
    expect(await field.evaluate('document.activeElement.name')).toBe('address');
    expect(await form.locator('.notice.bad').count()).toBe(0);

    const review = await ask(page, own);
    await hasNoFault(page);
    const shown = await review.getByRole('group', { name: /^What your passkey confirms/ }).innerText();
    const body = JSON.stringify({ coin: 'USDC', network: 'ERC20', address: own, tag: null, old_is_lost: false });
    expect(shown).toBe(`POST /cabinet/api/commission/addresses\n${body}`);
    const [asked, sent] = await Promise.all([
      page.waitForRequest(/\/confirmations\/options$/),
      page.waitForResponse((answer) => answer.url().endsWith('/commission/addresses') && answer.ok()),
      review.getByRole('button', { name: 'Confirm' }).click(),
    ]);
    expect(asked.postDataJSON().request_digest).toBe(createHash('sha256').update(shown).digest('base64url'));
    expect(sent.request().postData()).toBe(body);
    await address(page).getByText('Waits').waitFor();
    await address(page).getByText(own).waitFor();
    await hasNoFault(page);

    await address(page).getByRole('button', { name: 'Cancel it' }).click();
    await dialog(page, 'Cancel the new address').getByRole('button', { name: 'Cancel it' }).click();
    await address(page).getByText('No address yet').waitFor();
    await address(page).getByRole('cell', { name: 'Cancelled' }).waitFor();
  });

  it('goes back from what the passkey would confirm, and sends nothing when it is not used', async () => {
    const visitor = await setup.member('owner', '/commission');
    const { page } = visitor;
    await page.getByRole('button', { name: 'Set an address' }).click();
    const review = await ask(page, own);
    await review.getByRole('button', { name: 'Cancel' }).click();
    await review.waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Continue' }).click();
    await visitor.verifies(false);
    await review.getByRole('button', { name: 'Confirm' }).click();
    await review.getByRole('alert').waitFor();
    await page.keyboard.press('Escape');
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').first().waitFor({ state: 'detached' });
    await address(page).getByText('No address yet').waitFor();
  });

  it('says why a closed month is not paid, and has the bytes that its SHA-256 is of', async () => {
    const { page, open } = await setup.member('finance', '/commission');
    const unpaid = page.getByRole('list', { name: 'Closed and not paid' }).getByRole('listitem');
    await unpaid.getByText('No address for USDC on ERC20 is in effect').waitFor();
    expect(await page.getByRole('button', { name: 'Set an address' }).count()).toBe(0);
    await page.getByText('Only an owner sets or cancels an address. Your role is finance.').waitFor();

    // The page's earlier address, with what it named.
    await open(`/statements?month=${month}`);
    await settledCabinet(page);
    expect(new URL(page.url()).pathname + new URL(page.url()).search).toBe(`/cabinet/commission?month=${month}`);
    const statement = card(page, 'Statement of');
    const file = async (name: string): Promise<string> => {
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        statement.getByRole('link', { name }).click(),
      ]);
      expect(download.suggestedFilename()).toBe(`commission-${month}.${name.toLowerCase()}`);
      return readFileSync((await download.path()) ?? '', 'utf8');
    };
    const csv = await file('CSV');
    // The names, and what two orders with a markup earned.
    expect(csv.split('\r\n')).toHaveLength(4);
    await statement.getByText(createHash('sha256').update(csv).digest('hex')).waitFor();
    expect(JSON.parse(await file('JSON'))).toMatchObject({ month, state: 'payable', problem: 'no_address', orders: 2 });
  });

  it('leads there from the first page while an address waits, until the month is paid', async () => {
    const { gateway } = setup;
    const owner = await setup.member('owner', '/commission');
    await setAddress(owner);
    const finance = await setup.member('finance', '/');
    await finance.page.getByText('A new address for your commission waits').waitFor();
    await finance.page.getByRole('region', { name: 'Needs action' }).getByRole('link', { name: 'Commission' }).click();
    await address(finance.page).getByText(own).waitFor();
    expect(await finance.page.getByRole('button', { name: 'Cancel it' }).count()).toBe(0);

    gateway.clock.advance(addressWaitMs);
    await gateway.settlement.commission.run();
    const later = await setup.member('owner', `/commission?month=${month}`, { bypassCSP: true });
    await address(later.page).getByText('In effect', { exact: true }).waitFor();
    await card(later.page, 'Balance').getByText('Its payment is under way').waitFor();
    for (let block = 0; block < 40; block++) {
      await gateway.tick();
      await gateway.mine('ERC20');
      gateway.clock.advance(2_000);
    }
    await gateway.tick();
    await later.page.reload();
    const statement = card(later.page, 'Statement of');
    await statement.getByText('Paid', { exact: true }).first().waitFor();
    const [paid] = await gateway.query<{ txid: string }>(
      `select a.txid from payment p join payment_attempt a on a.payment_id = p.id where p.kind = 'commission'`,
    );
    await statement.getByTitle(paid?.txid ?? 'none', { exact: true }).waitFor();
    expect(await later.page.getByRole('list', { name: 'Closed and not paid' }).count()).toBe(0);
    await hasNoFault(later.page);
  });

  it('is not shown to a role without its right', async () => {
    const { page } = await setup.visitor();
    await page.goto(await setup.invite('A developer', 'developer'));
    await page.getByRole('button', { name: 'Make a passkey' }).click();
    await page.getByRole('button', { name: 'Later' }).click();
    await page.getByRole('navigation', { name: 'Pages' }).waitFor();
    await page.goto(`${setup.origin}/cabinet/commission`);
    await page.getByText('Your role does not show this page').waitFor();
    expect(await page.getByRole('link', { name: 'Commission' }).count()).toBe(0);
  });
});
