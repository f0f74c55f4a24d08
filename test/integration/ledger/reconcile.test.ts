import type { MikroORM } from '@mikro-orm/postgresql';
import { Command } from 'commander';
import { Client } from 'pg';
import { createOrm } from '../../../src/app/orm.ts';
import { ledgerBalances, type ReconcileReport, reconcile, renderReport } from '../../../src/ledger/reconcile.ts';
import { ledgerCommands } from '../../../src/surfaces/cli/ledger-commands.ts';
import { createDatabase } from '../../support/database/database.ts';
import { usdt, usdtContract, xrp } from '../../support/ledger/fake-chain.ts';
import { spend, World } from '../../support/ledger/ledger-world.ts';

describe('reconcile', () => {
  let database: Awaited<ReturnType<typeof createDatabase>>;
  let orm: MikroORM;
  let db: Client;
  let world: World;

  beforeEach(async () => {
    database = await createDatabase();
    orm = await createOrm({ url: database.url, poolSize: 2 });
    db = new Client({ connectionString: database.url });
    await db.connect();
    world = new World(db);
    await world.build();
  });
  afterEach(async () => {
    await db?.end();
    await orm?.close(true);
    await database?.drop();
  });

  const run = () => reconcile({ orm, adapters: world.adapters });

  /** The differing rows as 'check subject difference'. */
  async function found(): Promise<string[]> {
    return differing(await run());
  }

  function differing({ rows, differences }: ReconcileReport): string[] {
    const shown = rows.filter(({ difference }) => difference !== '0');
    expect(differences).toBe(shown.length);
    return shown.map(({ check, subject, difference }) => `${check}: ${subject}: ${difference}`);
  }

  it('finds no difference in a clean ledger while work is in progress', async () => {
    const report = await run();
    expect(differing(report)).toEqual([]);
    const row = (check: string, subject: string) =>
      report.rows.find((one) => one.check === check && one.subject === subject);
    expect(row('deposits', 'BTC on BTC')).toMatchObject({ expected: '0.05', actual: '0.02', in_flight: '0.03' });
    expect(row('deposits', 'XRP on XRP')).toMatchObject({ expected: '149.1', actual: '107.1', in_flight: '42' });
    expect(row('hot', 'USDT on TRC20')).toMatchObject({ expected: '8981.5', actual: '9001.5', in_flight: '-20' });
    expect(row('hot', 'TRX on TRX')).toMatchObject({ expected: '475', actual: '480', in_flight: '-5' });
    expect(row('venue', 'BTC')).toMatchObject({ expected: '-0.016', actual: '-0.014', in_flight: '-0.002' });
    expect(row('accounts', 'unclaimed, XRP on XRP')).toMatchObject({ expected: '-0.1', actual: '-0.1' });
    expect(report.checked).toMatchObject({ histories: 9, addresses: 9, payments: 5, rest: 4, trades: 4, chain: 3 });
  });

  it('counts deposits that an unseen reorg removed as in flight', async () => {
    const { bitcoin } = world;
    const lost = bitcoin.blocks.findLast(({ transfers }) => transfers.some(({ amount }) => amount === 400_000n));
    const at = lost?.ref.height ?? 0;
    const again = bitcoin.blocks.slice(at);
    bitcoin.blocks = bitcoin.blocks.slice(0, at);
    for (const _ of again) bitcoin.mine([], '-other');
    expect(await found()).toEqual([]);
    bitcoin.mine(lost?.transfers);
    expect(await found()).toEqual([]);
  });

  it('counts a final deposit as in flight while its order waits for the settler, for 10 minutes', async () => {
    world.ripple.mine();
    await world.scanned(world.ripple);
    const { rows } = await db.query(`select scanned_at from chain_state where chain = 'ripple'`);
    const scannedMs: number = rows[0].scanned_at.getTime();
    const foundAt = async (dueMinutes: number, nowMinutes: number): Promise<string[]> => {
      const at = (minutes: number): Date => new Date(scannedMs + minutes * 60_000);
      await world.sql(
        `update exchange_order o set next_action_at = $1 from deposit d
          where d.order_id = o.id and d.chain = 'ripple' and d.state = 'mined'`,
        [at(dueMinutes)],
      );
      const clock = { now: () => at(nowMinutes) };
      return differing(await reconcile({ orm, adapters: world.adapters, clock }));
    };
    const uncredited = ['deposits: XRP on XRP: 42'];
    expect(await foundAt(0, 0)).toEqual([]);
    expect(await foundAt(0, 9)).toEqual([]);
    expect(await foundAt(-5, 4)).toEqual([]);
    // However long ago the last block was.
    expect(await foundAt(0, 10)).toEqual(uncredited);
    expect(await foundAt(-5, 5)).toEqual(uncredited);
    // The settler has tried since the scan, and failed.
    expect(await foundAt(1, 2)).toEqual(uncredited);
  });

  it('reads a chain again that moved on under the reading', async () => {
    const { tron } = world;
    let calls = 0;
    tron.onBalances = () => {
      if (++calls === 2) tron.mine([world.transfer('late', world.order('back'), usdtContract, 5_000_000n)]);
    };
    expect(await found()).toEqual([]);
  });

  it('begins at the start block of the scanner before the first scan', async () => {
    await world.sql(`update chain_state set cursor_blocks = '[]', height = 0 where chain = 'tron'`);
    expect(await found()).toEqual([]);
  });

  const findings: [what: string, corrupt: (world: World) => Promise<void> | void, differences: string[]][] = [
    [
      'a deposit that the scanner missed',
      (w) => w.bitcoin.blocks[1]?.transfers.push(w.transfer('missed', w.order('waiting'), null, 1_000_000n)) as never,
      ['deposits: BTC on BTC: 0.01'],
    ],
    [
      'a final deposit that was not credited',
      async (w) => {
        w.ripple.mine();
        await w.scanned(w.ripple);
      },
      ['deposits: XRP on XRP: 42'],
    ],
    [
      'a deposit that is not on its chain',
      async (w) => {
        const order = w.order('waiting');
        await w.deposit(order, usdt, '9');
        w.tron.blocks.at(-2)?.transfers.splice(0);
        await w.scanned(w.tron);
      },
      ['deposits: USDT on TRC20: -9'],
    ],
    ['an outflow that was not booked', (w) => spend(w.tron, usdtContract, 33_000_000n), ['hot: USDT on TRC20: -33']],
    [
      'a payment that succeeded twice',
      async (w) => {
        const [first] = [...w.tron.statuses.entries()];
        const payment = first?.[0].slice(0, -2) ?? '';
        const txid = await w.attempt(payment, 'tron', 2, null);
        if (first) w.tron.statuses.set(txid, first[1]);
        spend(w.tron, usdtContract, 20_000_000n);
        spend(w.tron, null, 5_000_000n);
      },
      ['hot: TRX on TRX: -5', 'hot: USDT on TRC20: -20', 'payments: payment * on tron: 1'],
    ],
    [
      'a chain that does not answer',
      (w) => {
        w.ripple.isAway = true;
      },
      ['chain: ripple: 1'],
    ],
    [
      'balances of a chain without an adapter',
      (w) => void w.adapters.delete('ripple'),
      ['deposits: XRP on XRP, which no chain was asked about: -107.1'],
    ],
    [
      "a client's balance that is off",
      (w) =>
        w.book('deposit', 'tron:nothing', w.order('paying'), [
          ['client', usdt, '-1'],
          ['trading', usdt, '1'],
        ]),
      ['clients: USDT on TRC20: 1', 'clients: BTC-PAYING, USDT on TRC20: 1', 'accounts: trading, USDT on TRC20: -1'],
    ],
    [
      'balances of two clients that are off by the same',
      async (w) => {
        await w.book('deposit', 'a', w.order('paying'), [
          ['client', usdt, '-1'],
          ['opening', usdt, '1'],
        ]);
        await w.book('deposit', 'b', w.order('back'), [
          ['client', usdt, '1'],
          ['opening', usdt, '-1'],
        ]);
      },
      [
        'clients: BTC-PAYING, USDT on TRC20: 1',
        'clients: USDT-BACKXX, USDT on TRC20: -1',
        'debits: USDT-BACKXX, USDT on TRC20: -1',
        'rest: USDT-BACKXX, USDT on TRC20: -1',
      ],
    ],
    [
      'a trade without lines in the book',
      (w) =>
        w.corrupt(
          `with gone as (delete from ledger_transaction where kind = 'trade' and reference = $1 returning id)
           delete from ledger_line where transaction_id in (select id from gone)`,
          [w.order('paying').id],
        ),
      [
        'clients: BTC on BTC: 0.001',
        'clients: USDT on TRC20: -20',
        'clients: BTC-PAYING, BTC on BTC: 0.001',
        'clients: BTC-PAYING, USDT on TRC20: -20',
        'accounts: network_fee, USDT on TRC20: -1.5',
        'accounts: service_fee, USDT on TRC20: -1',
        'accounts: trading, USDT on TRC20: 0.1',
        'venue: BTC: -0.001',
        'venue: USDT: 22.4',
      ],
    ],
    [
      'a completed order whose payout was never made',
      (w) =>
        w.corrupt(
          `with gone as (delete from payment where order_id = $1 returning id),
                booked as (delete from ledger_transaction where reference in (select id::text from gone) returning id)
           delete from ledger_line where transaction_id in (select id from booked)`,
          [w.order('done').id],
        ),
      ['hot: TRX on TRX: -5', 'hot: USDT on TRC20: -590', 'rest: BTC-DONEXX, USDT on TRC20: 590'],
    ],
    [
      'a fill that is not what the rows say',
      (w) => w.sql(`update sandbox_fill set bought = 597 where client_id = $1`, [w.order('done').id]),
      ['venue: USDT: -1', 'trades: BTC-DONEXX, USDT: -1'],
    ],
    [
      'a fill that no trade asked for',
      (w) => w.sql(`insert into sandbox_fill values ('unknown', 'BTC', 1, 'USDT', 60000, now())`),
      ['venue: BTC: -1', 'venue: USDT: 60000', 'trades: unknown, BTC: -1', 'trades: unknown, USDT: 60000'],
    ],
    [
      'a fill of a trade that was given up',
      (w) => w.sql(`update trade set state = 'abandoned' where order_id = $1`, [w.order('trades').id]),
      ['venue: BTC: -0.002', 'venue: USDT: 113', 'trades: BTC-TRADES, BTC: -0.002', 'trades: BTC-TRADES, USDT: 113'],
    ],
    [
      'a fee that was changed',
      (w) => w.sql('update trade set service_fee = service_fee + 1 where order_id = $1', [w.order('done').id]),
      ['accounts: service_fee, USDT on TRC20: -1', 'accounts: trading, USDT on TRC20: 1'],
    ],
    [
      "a stranger's deposit that is not in suspense",
      (w) =>
        w.book('deposit', 'gone', null, [
          ['suspense', xrp, '7'],
          ['opening', xrp, '-7'],
        ]),
      ['accounts: suspense, XRP on XRP: -7'],
    ],
    [
      'a transaction that does not sum to zero',
      (w) =>
        w.corrupt(
          `insert into ledger_line select id, 9, 'opening', 'BTC', 'BTC', 1 from ledger_transaction where kind = 'trade' and reference = $1`,
          [w.order('done').id],
        ),
      ['book: BTC on BTC: -1', 'book: trade *, BTC on BTC: -1'],
    ],
    [
      'an event that is missing',
      (w) => w.corrupt('delete from order_event where order_id = $1 and seq = 3', [w.order('done').id]),
      ['histories: BTC-DONEXX, events: 1'],
    ],
    [
      'an order that stands elsewhere',
      (w) => w.corrupt(`update exchange_order set status = 'failed' where id = $1`, [w.order('paying').id]),
      ['histories: BTC-PAYING, status: 1'],
    ],
    [
      'a step that no order takes',
      async (w) => {
        const { id } = w.order('waiting');
        await w.corrupt(
          `insert into order_event (order_id, partner_id, seq, at, from_status, to_status, cause, actor)
           select id, partner_id, 2, now(), 'waiting_deposit', 'completed', 'x', 'x' from exchange_order where id = $1`,
          [id],
        );
        await w.corrupt(`update exchange_order set status = 'completed', event_seq = 2 where id = $1`, [id]);
      },
      ['histories: BTC-WAITIN, events: 1'],
    ],
    [
      'two orders with one deposit address',
      async (w) => {
        await w.sql('alter table exchange_order drop constraint exchange_order_deposit_address_id_key');
        await w.sql(
          `update exchange_order set deposit_address_id =
             (select deposit_address_id from exchange_order where id = $1) where id = $2`,
          [w.order('waiting').id, w.order('trades').id],
        );
      },
      ['addresses: BTC-TRADES, deposit address: 1', 'addresses: BTC-WAITIN, deposit address: 1'],
    ],
    [
      'a confirmed payment that no attempt made',
      (w) =>
        w.corrupt(
          `update payment_attempt set mined_height = null where payment_id in (select id from payment where order_id = $1)`,
          [w.order('done').id],
        ),
      ['payments: payment *, confirmed: 1'],
    ],
    [
      'a leg that was paid twice',
      async (w) => {
        await w.sql('drop index payment_once');
        await w.payment(w.order('back'), await w.depositOf('back'), 'refund', usdt, '48.5', { fee: '1.5' });
      },
      [
        'debits: USDT-BACKXX, USDT on TRC20: -50',
        'rest: USDT-BACKXX, USDT on TRC20: -50',
        'payments: deposit *, main: 1',
      ],
    ],
  ];

  it.each(findings)('finds %s', async (_what, corrupt, differences) => {
    await corrupt(world);
    const shown = (await found()).map((row) => row.replace(/[0-9a-f]{8}-[0-9a-f-]{27}/, '*'));
    expect(shown).toEqual(differences);
  });

  it('takes the fills of another venue', async () => {
    const { rows } = await db.query(
      `select client_id as "clientId", sell_coin as "sellCoin", sell_amount as "sellAmount", buy_coin as "buyCoin",
              bought from sandbox_fill`,
    );
    await world.sql('delete from sandbox_fill');
    expect(differing(await reconcile({ orm, adapters: world.adapters, venueFills: rows }))).toEqual([]);
    const differences = differing(await reconcile({ orm, adapters: world.adapters, venueFills: rows.slice(1) }));
    expect(differences).toContain('trades: BTC-DONEXX, USDT: -598');
  });

  it('is shown as a table of what there is to see', async () => {
    expect(renderReport(await run())).toMatch(/^check +subject +expected +actual +in flight +difference\n/);
    spend(world.tron, usdtContract, 33_000_000n);
    const text = renderReport(await run());
    expect(text).toMatch(/\nhot +USDT on TRC20 +8948\.5 +9001\.5 +-20 +-33\n/);
    expect(text).not.toMatch(/USDC/);
    expect(text).toMatch(/\nreconcile: \d+ checks, 1 differences$/);
  });

  it('lists the balances of the book', async () => {
    expect(await ledgerBalances(orm.em.fork())).toContainEqual({
      account: 'hot',
      coin: 'USDT',
      network: 'TRC20',
      balance: '9001.5',
    });
  });

  describe('on the command line', () => {
    async function cli(...args: string[]): Promise<{ out: string; code: typeof process.exitCode }> {
      const before = process.exitCode;
      const written: string[] = [];
      const write = jest.spyOn(process.stdout, 'write').mockImplementation((text) => {
        written.push(String(text));
        return true;
      });
      try {
        const program = new Command();
        ledgerCommands(program, (command) => command({ orm, adapters: world.adapters }));
        await program.parseAsync(['ledger', ...args], { from: 'user' });
        return { out: written.join(''), code: process.exitCode };
      } finally {
        write.mockRestore();
        process.exitCode = before ?? 0;
      }
    }

    it('prints a table or one JSON object and fails on a difference', async () => {
      const clean = await cli('reconcile');
      expect([clean.out.trimEnd().split('\n').at(-1), clean.code ?? 0]).toEqual([
        expect.stringMatching(/^reconcile: \d+ checks, 0 differences$/),
        0,
      ]);
      spend(world.tron, usdtContract, 1n);
      const bad = await cli('reconcile', '--json');
      expect([JSON.parse(bad.out).differences, bad.code]).toEqual([1, 1]);
      expect((await cli('balances')).out).toMatch(/^account +coin +network +balance\n/);
      expect(JSON.parse((await cli('balances', '--json')).out).balances[0]).toMatchObject({ account: 'client' });
    });
  });
});
