import { WatchedGateway } from '../../support/exchanges/watched-account.ts';
import { commandLine } from '../../support/gateway/built-process.ts';

const stranger = 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4';
let watched: WatchedGateway;
beforeAll(async () => {
  watched = await WatchedGateway.start();
  await watched.open();
});
beforeEach(() => watched.next());
afterAll(() => watched?.stop());

/** The command line, on the gateway's database. */
const cli = (...args: string[]) => commandLine(watched.gateway.databaseUrl, ['venue', ...args]);

/** What a command prints with `--json`, and its exit code. */
// biome-ignore lint/suspicious/noExplicitAny: what a command prints is read member by member
async function json(...args: string[]): Promise<{ code: number; found: any }> {
  const { code, output, errors } = await cli(...args, '--json');
  expect(errors).toBe('');
  return { code, found: JSON.parse(output) };
}

/** The command has the clock of the machine. */
async function readSince(age: string): Promise<void> {
  await watched.gateway.query('update venue_account set listed_at = now() - $1::interval', [age]);
  await watched.gateway.query('update venue_account set balances_at = listed_at');
}

describe('the commands of the account at the exchange', () => {
  it('check: nothing differs, and all is read', async () => {
    await readSince('10 seconds');
    const { code, found } = await json('check');
    expect(found).toMatchObject({
      differences: 0,
      accounts: [
        { venue: 'kraken', watched: true, lists_age_sec: expect.any(Number), failing_since: null, failure: null },
      ],
      held: [],
      foreign_withdrawals: [],
    });
    expect(found.rows.map(({ check }: { check: string }) => check)).toEqual(['venue_balance', 'venue_balance']);
    expect(code).toBe(0);
    expect((await cli('check')).output).toContain('reconcile: 2 checks, 0 differences');
  });

  it('show balances next to the books, and movements by filters', async () => {
    const reference = await watched.withdraw('BTC', 'BTC', { gross: '1.0005', fee: '0.0005' });
    const deposit = watched.credit('USDT', 'TRC20', '500', {
      txid: 'ab'.repeat(32),
      state: 'pending',
      told: 'Settled',
    });
    await watched.turn();
    const { code, found } = await json('balances');
    expect(code).toBe(0);
    expect(found.balances).toEqual([
      {
        venue: 'kraken',
        coin: 'BTC',
        total: '8.9995',
        free: '8.9995',
        booked: '8.9995',
        in_flight: '0',
        difference: '0',
        differing: 0,
        compared_at: expect.any(String),
        read_at: expect.any(String),
      },
      expect.objectContaining({ coin: 'USDT', total: '50000', booked: '50000', difference: '0' }),
    ]);
    const all = (await json('movements')).found.movements;
    expect(all).toHaveLength(2);
    const listed = (await json('movements', '--kind', 'withdrawal', '--coin', 'BTC', '--state', 'pending')).found
      .movements;
    expect(listed).toEqual([
      expect.objectContaining({
        venue: 'kraken',
        kind: 'withdrawal',
        reference,
        coin: 'BTC',
        amount: '1.0005',
        fee: '0.0005',
        internal: false,
        part: 'transfer',
        told: 'Pending',
      }),
    ]);
    expect((await json('movements', '--limit', '1')).found.movements).toEqual([
      expect.objectContaining({ reference: all[0].reference }),
    ]);
    const table = await cli('movements', '--kind', 'deposit');
    expect(table.output).toMatch(/^at +venue +kind +reference /);
    expect(table.output).toContain(deposit);
    const wrong = [
      ['--limit', '0'],
      ['--kind', 'gift'],
      ['--state', 'lost'],
    ];
    const refused = await Promise.all(wrong.map((args) => cli('movements', ...args)));
    expect(refused.map(({ code }) => code)).toEqual([1, 1, 1]);
    const helped = await Promise.all(['balances', 'movements', 'check'].map((name) => cli(name, '--help')));
    expect(helped.map(({ code }) => code)).toEqual([0, 0, 0]);
    for (const one of [reference, deposit]) watched.account.change(one, { state: 'returned' });
    watched.account.add('BTC', '1.0005');
  });

  it('check: exits with 1 when the account was not read for five minutes', async () => {
    await readSince('4 minutes');
    expect((await cli('check')).code).toBe(0);
    await readSince('6 minutes');
    const { code, output } = await cli('check');
    expect([code, output]).toEqual([1, expect.stringContaining('0 differences')]);
    await watched.gateway.query('update venue_account set is_watched = false');
    expect((await cli('check')).code).toBe(0);
    await watched.gateway.query('update venue_account set is_watched = true');
  });

  it('check: exits with 1 on a difference that lasts, and tells what is held', async () => {
    watched.account.add('USDT', '-3');
    await watched.turn(2);
    await readSince('0 seconds');
    const { code, found } = await json('check');
    expect(found.held).toEqual([{ venue: 'kraken', coin: 'USDT', cause: 'shortage' }]);
    expect(found.differences).toBe(1);
    expect(found.rows).toContainEqual({
      check: 'venue_balance',
      subject: 'USDT on kraken',
      expected: '49997',
      actual: '50000',
      in_flight: '0',
      difference: '-3',
    });
    expect(code).toBe(1);
    await watched.classify({ coin: 'USDT', amount: '-3' }, 'cost');
  });

  it('check: exits with 1 on a withdrawal that is none of ours', async () => {
    const reference = await watched.withdraw('BTC', 'BTC', { gross: '2', fee: '0.0005', address: stranger });
    await watched.turn();
    await readSince('0 seconds');
    const { code, found } = await json('check');
    expect(found.held).toEqual([{ venue: 'kraken', coin: 'BTC', cause: 'foreign_withdrawal' }]);
    expect(found.foreign_withdrawals).toEqual([`kraken:withdrawal:${reference}`]);
    expect(code).toBe(1);
    const { output } = await cli('check');
    expect(output).toMatch(/kraken +BTC +foreign_withdrawal/);
  });
});
