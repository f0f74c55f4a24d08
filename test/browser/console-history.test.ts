import type { Page } from 'playwright-core';
import { HistoryTurns } from '../../src/operations/history-turns.ts';
import { TestClock } from '../support/gateway/clock.ts';
import { describeInBrowser } from '../support/staff/chromium.ts';
import { axeFaults, type ConsoleSetup, consoleUrl, overflow, settled, setUpConsole } from '../support/staff/console.ts';

/** The plots of the history on the pages Money and Chains, and the tables behind them. */

/** Of a canvas in the page, because the tests are checked without the types of a browser. */
interface Canvas {
  readonly width: number;
  readonly height: number;
  getContext(kind: '2d'): {
    getImageData(x: number, y: number, width: number, height: number): { readonly data: Uint8ClampedArray };
  };
}

const minuteMs = 60_000;
const slots = 90;

describeInBrowser('the history in the console', () => {
  let setup: ConsoleSetup;
  beforeAll(async () => {
    setup = await setUpConsole();
  });
  afterAll(() => setup?.stop());
  afterEach(async () => {
    await setup.closeAll();
    expect(setup.complaints.splice(0)).toEqual([]);
  });

  async function show(page: Page, path: string): Promise<void> {
    await page.goto(consoleUrl(setup.gateway, path));
    await settled(page);
  }

  /** How many pixels of a plot are painted. */
  async function painted(page: Page, name: RegExp): Promise<number> {
    const plot = page.getByRole('img', { name });
    await plot.locator('canvas').waitFor();
    return plot.locator('canvas').evaluate((canvas: unknown) => {
      const { width, height, getContext } = canvas as Canvas;
      const { data } = getContext.call(canvas, '2d').getImageData(0, 0, width, height);
      return data.filter((part, index) => index % 4 === 3 && part > 0).length;
    });
  }

  /** The rows of the table behind a plot, the newest first. */
  async function rowsBehind(page: Page, name: RegExp): Promise<string[][]> {
    const figure = page.locator('figure').filter({ has: page.getByRole('img', { name }) });
    await figure.getByText('As a table').click();
    await figure.getByRole('table').waitFor();
    const rows = await figure.locator('tbody tr').all();
    const texts = await Promise.all(rows.map((row) => row.locator('td').allTextContents()));
    return texts.reverse();
  }

  it('says what would be here before there is a reading', async () => {
    const page = await setup.open('support', '/money');
    await settled(page);
    await page.getByText('No reading of a hot wallet in the last 7 days').waitFor();
    await page.getByText('No reading of the venue in the last 7 days').waitFor();
    await show(page, '/chains');
    await page.getByText('No reading of a chain in the last 7 days').waitFor();
  });

  describe('with readings of a day', () => {
    beforeAll(() => readingsOfADay(setup));

    it('shows the levels of a wallet with its dip, its bounds and its gap', async () => {
      const page = await setup.open('viewer', '/me');
      const scripts: string[] = [];
      page.on('request', (request) => scripts.push(request.url()));
      await show(page, '/money?days=1');
      // The wallet outside its bounds comes first.
      await page
        .getByRole('img', { name: /^Balance of the hot wallet of LTC on litecoin in the last 24 hours/ })
        .waitFor();
      await page.getByLabel('Wallet', { exact: true }).selectOption({ label: 'BTC, bitcoin' });
      const name = /^Balance of the hot wallet of BTC on bitcoin in the last 24 hours: 0\.000000000000000001 at least/;
      expect(await painted(page, name)).toBeGreaterThan(2_000);
      expect(scripts.filter((url) => /assets\/history-/.test(url)).length).toBeGreaterThan(0);
      const rows = await rowsBehind(page, name);
      expect(rows.length).toBe(144);
      const known = rows.filter(([, last]) => last !== 'no reading');
      expect(known.length).toBeGreaterThan(slots - 15);
      expect(known.length).toBeLessThanOrEqual(slots - 8);
      expect(known[0]?.slice(1)).toEqual(['4.5', '4.5', '4.5', '2', '8']);
      const dips = rows.filter(([, , lowest]) => lowest === '0.000000000000000001');
      expect(dips.map(([, last]) => last)).toEqual(['4.5']);
      // A gap lies between readings, and not only before them.
      const texts = rows.map(([, last]) => last);
      expect(texts.slice(0, texts.lastIndexOf('4.5')).includes('no reading')).toBe(true);
      expect(await page.getByRole('heading', { name: 'Venue' }).count()).toBe(0);
      await page.getByLabel('Wallet', { exact: true }).selectOption({ label: 'LTC, litecoin' });
      await page.getByRole('img', { name: /^Balance of the hot wallet of LTC on litecoin/ }).waitFor();
      await page
        .getByRole('group', { name: 'Period of wallet levels' })
        .getByRole('button', { name: '90 days' })
        .click();
      await page
        .getByRole('img', { name: /^Balance of the hot wallet of LTC on litecoin in the last 90 days/ })
        .waitFor();
      // The choice is in the address.
      await page.reload();
      await page
        .getByRole('img', { name: /^Balance of the hot wallet of LTC on litecoin in the last 90 days/ })
        .waitFor();
    });

    it('shows the venue to those who may read the ledger', async () => {
      const page = await setup.open('support', '/money?days=1');
      await settled(page);
      const name = /^Stock of our inventory, BTC, in BTC, in the last 24 hours: 3 at least, 3 at last/;
      expect(await painted(page, name)).toBeGreaterThan(1_000);
      expect((await rowsBehind(page, name)).filter(([, last]) => last === '3').length).toBeGreaterThan(slots - 15);
    });

    it('shows the lag of a chain and the minutes in which it failed', async () => {
      const page = await setup.open('viewer', '/chains?days=1&chain=bitcoin');
      await settled(page);
      const lag = /^Blocks that bitcoin was behind its node in the last 24 hours: 45 at most/;
      expect(await painted(page, lag)).toBeGreaterThan(1_000);
      const lags = await rowsBehind(page, lag);
      expect(lags.filter(([, last, most]) => last === '0' && most === '45')).toHaveLength(1);
      const failures = /^Minutes in which bitcoin could not be read in the last 24 hours: 10 in all/;
      expect(await painted(page, failures)).toBeGreaterThan(500);
      const failed = (await rowsBehind(page, failures)).filter(([, minutes]) => minutes === '1');
      expect(failed.map(([, , cause]) => cause)).toEqual(Array.from({ length: 10 }, () => 'unreachable'));
      await page.getByLabel('Chain', { exact: true }).selectOption('litecoin');
      await page.getByRole('img', { name: /^Minutes in which litecoin could not be read.*: 0 in all/ }).waitFor();
    });

    it.each(['light', 'dark'] as const)('has no fault that axe finds, and fits a telephone, in %s', async (theme) => {
      for (const width of [1280, 390]) {
        const page = await setup.open('support', '/me', {
          viewport: { width, height: 844 },
          colorScheme: theme,
          bypassCSP: true,
        });
        for (const path of ['/money', '/money?days=90', '/chains?days=1']) {
          await show(page, path);
          await page.locator('.plot canvas').first().waitFor();
          for (const summary of await page.getByText('As a table').all()) await summary.click();
          expect([path, width, await overflow(page)]).toEqual([path, width, 0]);
          expect([path, width, await axeFaults(page)]).toEqual([path, width, []]);
        }
      }
    });
  });
});

/**
 * Lets the history be written over 15 hours, up to now. A wallet has a dip and a gap. A chain is
 * behind for a minute, and fails later. The inventory has a stock.
 */
async function readingsOfADay({ gateway }: ConsoleSetup): Promise<void> {
  const { query } = gateway;
  await gateway.tick();
  await query(`update chain_state set lease_until = now() + interval '1 hour'`);
  await query(`insert into sandbox_inventory values ('BTC', 3)`);
  // Each slot begins with a bucket of the plots, so that a slot never spans two.
  const endMs = Math.floor(Date.now() / (10 * minuteMs)) * 10 * minuteMs;
  const clock = new TestClock(new Date(endMs - slots * 10 * minuteMs));
  const turns = new HistoryTurns({
    orm: gateway.app.orm,
    clock,
    isExchange: false,
    slowestPollMs: 250,
    depthMaxAgeSec: 360,
    reconcileEverySec: 3_600,
  });
  const wallet = (coin: string, chain: string, balance: string, seenAt: Date) =>
    query(
      `insert into wallet_level (chain, coin, network, balance, low, high, level, seen_at)
       values ($2, $1, $1, $3, 2, 8, 'ok', $4)
       on conflict (chain, coin, network) do update set balance = excluded.balance, seen_at = excluded.seen_at`,
      [coin, chain, balance, seenAt],
    );
  for (let slot = 0; slot <= slots; slot++) {
    const isFailing = slot >= 60 && slot < 70;
    await wallet('LTC', 'litecoin', '100', clock.now());
    if (slot < 30 || slot >= 40) await wallet('BTC', 'bitcoin', '4.5', clock.now());
    await query(`update chain_state set failure = $1, failing_since = now() where chain = 'bitcoin'`, [
      isFailing ? 'unreachable' : null,
    ]);
    if (slot === 20) {
      // What lasts for one minute is followed by a better minute in the same slot.
      await wallet('BTC', 'bitcoin', '0.000000000000000001', clock.now());
      await query(`update chain_state set head = head + 45 where chain = 'bitcoin'`);
      await turns.takeIfDue();
      await wallet('BTC', 'bitcoin', '4.5', clock.now());
      await query(`update chain_state set head = head - 45 where chain = 'bitcoin'`);
      clock.advance(minuteMs);
      await turns.takeIfDue();
      clock.advance(9 * minuteMs);
      continue;
    }
    await turns.takeIfDue();
    clock.advance(10 * minuteMs);
  }
}
