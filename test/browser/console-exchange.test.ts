import type { Locator, Page } from 'playwright-core';
import { addressExample } from '../../src/chains/addresses/address.ts';
import { HistoryTurns } from '../../src/operations/history-turns.ts';
import { WatchedGateway } from '../support/exchanges/watched-account.ts';
import { TestClock } from '../support/gateway/clock.ts';
import { describeInBrowser } from '../support/staff/chromium.ts';
import { axeFaults, type ConsoleSetup, consoleUrl, overflow, settled, setUpConsole } from '../support/staff/console.ts';

/** The account at the exchange on the page Money, and the ways to it. */

describeInBrowser('the account at the exchange in the console', () => {
  let setup: ConsoleSetup;
  let watched: WatchedGateway;
  beforeAll(async () => {
    setup = await setUpConsole({ seeded: 0 });
  });
  afterAll(() => setup?.stop());
  afterEach(async () => {
    await setup.closeAll();
    expect(setup.complaints.splice(0)).toEqual([]);
  });

  const account = (page: Page): Locator => page.getByRole('region', { name: 'Account at Kraken', exact: true });
  const transfers = (page: Page): Locator => page.getByRole('region', { name: 'Transfers under way', exact: true });
  const movements = (page: Page): Locator =>
    page.getByRole('region', { name: 'Other movements at the exchange', exact: true });

  async function show(page: Page, path: string): Promise<void> {
    await page.goto(consoleUrl(setup.gateway, path));
    await settled(page);
  }

  /** What the columns of a coin say, from the amount that is held to the state. */
  async function coin(page: Page, name: string): Promise<string[]> {
    const cells = await account(page).getByRole('row').filter({ hasText: name }).getByRole('cell').allInnerTexts();
    return cells.slice(1, 7).map((text) => text.trim());
  }

  /** Fills the dialog of an action, and proposes it. */
  async function propose(page: Page, button: Locator, choice: string | null, reason: string): Promise<void> {
    await button.click();
    const dialog = page.getByRole('dialog');
    if (choice !== null) await dialog.getByLabel('What it is').selectOption(choice);
    await dialog.locator('[name="reason"]').fill(reason);
    await dialog.getByRole('button', { name: 'Propose' }).click();
    await dialog.waitFor({ state: 'detached' });
  }

  /** Another member approves a proposal in the list of proposals. */
  async function approve(reason: string, about: string | RegExp): Promise<void> {
    const page = await setup.open('admin', '/attention');
    const item = page.getByRole('region', { name: 'Proposals' }).getByRole('listitem').filter({ hasText: reason });
    await item.getByRole('link', { name: about }).waitFor();
    await item.getByRole('button', { name: 'Approve' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.locator('[name="reason"]').fill('looked at');
    await dialog.getByRole('button', { name: 'Approve' }).click();
    const decided = page.getByRole('region', { name: 'Decided lately' }).getByRole('listitem');
    await decided.filter({ hasText: reason }).getByRole('link', { name: about }).waitFor();
    await page.context().close();
  }

  it('says what would be here before an account is read', async () => {
    const page = await setup.open('support', '/money');
    await settled(page);
    await page.getByText('No account at an exchange is read').waitFor();
    await page.getByText('No reading of the account at the exchange in the last 7 days').waitFor();
  });

  describe('that is read', () => {
    beforeAll(async () => {
      watched = await WatchedGateway.on(setup.gateway);
      watched.account.add('LTC', '1000');
      await watched.turn(2);
    });

    it('is taken into the books by two members, and compared from then on', async () => {
      const page = await setup.open('operator', '/money');
      await settled(page);
      expect(await coin(page, 'BTC')).toEqual(['10', '10', '0', '0', '10', 'Not in the books']);
      await account(page).getByText('not yet: two members take its balances into them').waitFor();
      await propose(
        page,
        account(page).getByRole('button', { name: 'Take into the books' }),
        null,
        'the first balance',
      );
      await account(page).getByRole('link', { name: 'operator@staff.example proposed it' }).waitFor();
      expect(await account(page).getByRole('button', { name: 'Take into the books' }).count()).toBe(0);
      await approve('the first balance', 'Account at Kraken');
      await account(page).getByText('Agrees').first().waitFor();
      expect(await coin(page, 'BTC')).toEqual(['10', '10', '10', '0', '0', 'Agrees']);
      expect(await coin(page, 'USDT')).toEqual(['50000', '50000', '50000', '0', '0', 'Agrees']);
    });

    it('shows a difference that lasts, and two members classify it', async () => {
      watched.account.add('BTC', '-0.000000000000000001');
      await watched.turn();
      const page = await setup.open('operator', '/money');
      await settled(page);
      expect((await coin(page, 'BTC')).slice(4)).toEqual(['-0.000000000000000001', 'Differs once']);
      const row = account(page).getByRole('row').filter({ hasText: 'BTC' });
      expect(await row.getByRole('button').count()).toBe(0);
      await watched.turn();
      await page.reload();
      await settled(page);
      expect((await coin(page, 'BTC')).slice(4)).toEqual(['-0.000000000000000001', 'Differs']);
      // What differs comes first.
      expect(await account(page).getByRole('row').nth(1).innerText()).toContain('BTC');
      await row.getByRole('button', { name: 'Classify difference' }).click();
      await page
        .getByRole('dialog')
        .getByText('Kraken has 0.000000000000000001 BTC less than the books.', { exact: false })
        .waitFor();
      await page.keyboard.press('Escape');
      await propose(page, row.getByRole('button', { name: 'Classify difference' }), 'TRADING', 'dust of a trade');
      await row.getByRole('link', { name: 'operator@staff.example proposed trading' }).waitFor();
      await approve('dust of a trade', 'Difference of -0.000000000000000001 BTC at Kraken as trading');
      await row.getByText('Agrees').waitFor();
    });

    it('shows transfers with both sides and what is wrong', async () => {
      const txid = await watched.arrive('BTC', 'BTC', '0.9');
      const reference = await watched.withdraw('BTC', 'BTC', { gross: '1.0005', fee: '0.0005', txid, state: 'done' });
      await watched.mine('BTC');
      await watched.turn();
      const asked = await watched.withdraw('LTC', 'LTC', { gross: '2', fee: '0.1', told: 'Initial' });
      await watched.turn();
      const page = await setup.open('viewer', '/money');
      await settled(page);
      const short = transfers(page).getByRole('row').filter({ hasText: 'Short arrival' });
      const texts = (await short.getByRole('cell').allInnerTexts()).map((text) => text.replace(/\s+/g, ' ').trim());
      expect(texts.slice(0, 5)).toEqual([
        '1.0005 BTC Kraken → hot wallet on bitcoin',
        'Arrived Short arrival',
        `${reference} Pending`,
        expect.stringContaining(txid.slice(0, 8)),
        '0.1',
      ]);
      expect(await short.getByRole('button', { name: 'Copy transaction' }).count()).toBe(1);
      const waiting = transfers(page).getByRole('row').filter({ hasText: 'LTC' });
      expect(await waiting.innerText()).toContain('Asked');
      expect(await waiting.innerText()).toContain('none yet');
      expect(await waiting.innerText()).toContain(asked);
      await page.getByRole('link', { name: /^Attention/ }).click();
      await page.getByRole('listitem').filter({ hasText: reference }).getByRole('link').click();
      await transfers(page).getByText('Short arrival').waitFor();
      expect(new URL(page.url()).hash).toBe('#exchange');
      expect(await short.getByRole('button', { name: 'Accept the rest' }).count()).toBe(0);

      const operator = await setup.open('operator', '/money');
      await settled(operator);
      const lost = transfers(operator).getByRole('row').filter({ hasText: 'Short arrival' });
      await propose(operator, lost.getByRole('button', { name: 'Accept the rest' }), null, 'lost on its way');
      await lost.getByRole('link', { name: 'operator@staff.example proposed cost' }).waitFor();
      await approve('lost on its way', `Withdrawal ${reference} at Kraken as cost`);
      await lost.waitFor({ state: 'detached' });
      expect(await watched.booked('treasury_cost', 'BTC')).toBe('0.1005');
    });

    it('shows movements that are none of ours, and two members classify them', async () => {
      const given = { fee: '1', address: addressExample('LTC') };
      await watched.withdraw('LTC', 'LTC', { ...given, gross: '70', state: 'done', told: 'Success' });
      await watched.withdraw('LTC', 'LTC', { ...given, gross: '80', told: 'On hold', tag: '77' });
      const [over, pending] = ['70 LTC', '80 LTC'];
      watched.credit('USDT', 'a network without a name', '5', { state: 'pending' });
      await watched.turn();
      const page = await setup.open('operator', '/attention');
      await settled(page);
      // The way from the item leads to the part of the page.
      await page.getByRole('listitem').filter({ hasText: over }).getByRole('link').click();
      const item = (text: string): Locator => movements(page).getByRole('listitem').filter({ hasText: text });
      await item(over).waitFor();
      const place = await page.locator('#exchange').boundingBox();
      expect(place?.y).toBeLessThan(900);
      expect(await item(over).innerText()).toContain('Foreign withdrawal');
      expect(await item(pending).innerText()).toContain('with the tag 77 on LTC');
      expect(await item(pending).innerText()).toContain('On hold, not over');
      expect(await item(pending).getByRole('button', { name: 'Classify' }).count()).toBe(0);
      expect(await item('5 USDT').innerText()).toContain('Deposit, not decided yet');
      expect(await item('5 USDT').getByRole('button', { name: 'Classify' }).count()).toBe(0);
      await propose(page, item(over).getByRole('button', { name: 'Classify' }), 'CAPITAL', 'the owner took it');
      await item(over).getByRole('link', { name: 'operator@staff.example proposed capital' }).waitFor();
      await approve('the owner took it', /Withdrawal W\d+ at Kraken as capital/);
      await item(over).waitFor({ state: 'detached' });
      expect(await watched.booked('venue:kraken', 'LTC')).toBe('928');
      await item(pending).waitFor();
      // While a movement may be the difference, the difference is not classified.
      await watched.turn();
      await page.reload();
      await settled(page);
      expect((await coin(page, 'LTC')).slice(4)).toEqual(['-80', 'Differs']);
      const row = account(page).getByRole('row').filter({ hasText: 'LTC' });
      await row.getByText('its movements come first').waitFor();
      expect(await row.getByRole('button').count()).toBe(0);
    });

    it('offers no decision to those who may not take it', async () => {
      watched.account.add('BTC', '3');
      await watched.turn(2);
      const offered: Record<string, number> = {};
      for (const role of ['viewer', 'support', 'operator'] as const) {
        const page = await setup.open(role, '/money');
        await settled(page);
        await account(page).getByText('Differs', { exact: true }).first().waitFor();
        offered[role] = await page.locator('#exchange').getByRole('button', { name: 'Classify' }).count();
        expect([role, await page.getByRole('region', { name: 'Coins at the exchange' }).count()]).toEqual([
          role,
          role === 'viewer' ? 0 : 1,
        ]);
      }
      expect(offered).toEqual({ viewer: 0, support: 0, operator: 1 });
    });

    it('shows what the exchange held over time', async () => {
      // The clock of the gateway is ahead of the browser's, whose plots end now.
      const turns = new HistoryTurns({
        orm: setup.gateway.app.orm,
        clock: new TestClock(new Date()),
        isExchange: false,
        slowestPollMs: 250,
        depthMaxAgeSec: 360,
        reconcileEverySec: 3_600,
      });
      await watched.turn();
      expect(await turns.takeIfDue()).toBe(true);
      const page = await setup.open('support', '/money');
      await settled(page);
      await page.getByLabel('Held', { exact: true }).selectOption('LTC');
      const name = /^LTC that the exchange holds in the last 7 days: 848 at least, 848 at last/;
      const figure = page.locator('figure').filter({ has: page.getByRole('img', { name }) });
      await figure.getByText('As a table').click();
      const cells = await figure.locator('tbody tr').filter({ hasText: '848' }).locator('td').allInnerTexts();
      expect(cells.slice(1)).toEqual(['848', '848', '848', '848']);
    });

    it('names the exchange in the balances of the ledger', async () => {
      const page = await setup.open('support', '/money?account=VENUE');
      await settled(page);
      const rows = page.getByRole('region', { name: 'Balances of the ledger' }).getByRole('row');
      await rows.filter({ hasText: 'kraken' }).first().waitFor();
    });

    it('says that the exchange gives no answer', async () => {
      watched.account.isSilent = true;
      await watched.turn();
      const page = await setup.open('viewer', '/money');
      await settled(page);
      await account(page).getByRole('alert').getByText('Kraken gives no answer since').waitFor();
      watched.account.isSilent = false;
    });

    it.each(['light', 'dark'] as const)('has no fault that axe finds, and fits a telephone, in %s', async (theme) => {
      for (const width of [1280, 390]) {
        const page = await setup.open('operator', '/me', {
          viewport: { width, height: 844 },
          colorScheme: theme,
          bypassCSP: true,
        });
        for (const path of ['/money', '/attention']) {
          await show(page, path);
          expect([path, width, await overflow(page)]).toEqual([path, width, 0]);
          expect([path, width, await axeFaults(page)]).toEqual([path, width, []]);
        }
      }
    });
  });
});
