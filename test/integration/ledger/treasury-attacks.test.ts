import { ChainError } from '../../../src/chains/port/chain-adapter.ts';
import { ExchangeRefusal, ExchangeUnavailable, type MovementKind } from '../../../src/exchanges/exchange.ts';
import { FundingAccount } from '../../../src/exchanges/funding-account.ts';
import { heldCoins, isVenueHeld } from '../../../src/settlement/treasury/held-coins.ts';
import { usedChains } from '../../support/exchanges/account-books.ts';
import { WatchedGateway } from '../../support/exchanges/watched-account.ts';

// Attacks on the books of the account at the exchange. Each test says what must hold.

const stranger = 'bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4';
const txidOf = (number: number) => number.toString(16).padStart(64, '0');

describe('attacks on the account at the exchange', () => {
  let watched: WatchedGateway;
  beforeAll(async () => {
    watched = await WatchedGateway.start();
    await watched.open();
  });
  beforeEach(() => watched.next());
  // Each test ends with books that agree, and no coin held.
  afterEach(async () => {
    watched.account.answerAgain();
    await watched.turn(2);
    expect(await watched.differences()).toEqual([]);
    expect(await heldCoins(watched.gateway.app.orm.em.fork(), 'kraken')).toEqual([]);
  });
  afterAll(() => watched?.stop());

  const isHeld = (...coins: string[]) => isVenueHeld(watched.gateway.app.orm.em.fork(), 'kraken', coins);

  it('A: dust that a stranger sends to the exchange holds no payouts', async () => {
    const reference = watched.credit('BTC', 'BTC', '0.00001', { txid: txidOf(1) });
    await watched.turn();
    watched.gateway.clock.advance(3_600_000);
    await watched.turn(2);
    await watched.gateway.settlement.reconciliations?.runIfDue();
    expect(
      await watched.gateway.query('select coin, network, detail from payout_hold where closed_at is null'),
    ).toEqual([]);
    await watched.classify({ kind: 'deposit', reference }, 'capital');
  });

  it('B: a shortage that grows holds trades', async () => {
    for (let minute = 0; minute < 10; minute++) {
      watched.account.add('USDT', '-100');
      await watched.turn();
    }
    expect({ differences: (await watched.differences()).length, held: await isHeld('USDT') }).toEqual({
      differences: 1,
      held: true,
    });
    await watched.turn();
    await watched.classify({ coin: 'USDT', amount: '-1000' }, 'cost');
  });

  it('C: a withdrawal of a thief is seen while the list of deposits is too long', async () => {
    const { account, gateway } = watched;
    const { movements } = account;
    account.movements = async (kind: MovementKind, sinceMs: number) => {
      // A stranger has sent 20,001 deposits within 90 days, and few of them today.
      if (kind === 'deposit' && sinceMs < gateway.clock.now().getTime() - 10 * 86_400_000) {
        throw new ExchangeUnavailable('there are more than 20000 deposits');
      }
      return movements.call(account, kind, sinceMs);
    };
    gateway.clock.advance(86_400_000);
    const reference = await watched.withdraw('BTC', 'BTC', {
      gross: '2',
      fee: '0.0005',
      address: stranger,
      state: 'done',
    });
    await watched.turn(5);
    expect(await isHeld('BTC')).toBe(true);
    await watched.classify({ kind: 'withdrawal', reference }, 'cost');
  });

  it('D: a foreign withdrawal is booked once, also when its difference was classified first', async () => {
    const reference = await watched.withdraw('BTC', 'BTC', { gross: '2', fee: '0.0005', address: stranger });
    await watched.turn(3);
    await watched.classify({ coin: 'BTC', amount: '-2' }, 'cost').catch(() => {});
    watched.account.change(reference, { state: 'done', told: 'Success' });
    await watched.turn(2);
    await watched.classify({ kind: 'withdrawal', reference }, 'cost').catch(() => {});
    expect(await watched.added('treasury_cost', 'BTC')).toBe('2');
  });

  it('F: a transfer that the exchange refuses at once is booked', async () => {
    const txid = await watched.spend('BTC', 'BTC', '0.5');
    await watched.mine('BTC');
    watched.credit('BTC', 'BTC', '0.5', { txid, state: 'returned', told: '7' });
    await watched.turn(5);
    expect(await watched.differences()).toEqual([]);
    await watched.arrive('BTC', 'BTC', '0.5');
    await watched.mine('BTC');
    await watched.turn(2);
  });

  it('G: members can end a foreign withdrawal whose state the dialect does not know', async () => {
    const reference = await watched.withdraw('BTC', 'BTC', {
      ...{ gross: '2', fee: '0.0005', address: stranger, state: 'unknown', told: 'Success return' },
    });
    await watched.turn(2);
    watched.gateway.clock.advance(30 * 86_400_000);
    await watched.turn(3);
    await watched.classify({ kind: 'withdrawal', reference }, 'cost');
    expect(await isHeld('BTC')).toBe(false);
  });

  it('G: members can end a foreign withdrawal that the exchange lists no more', async () => {
    const reference = await watched.withdraw('BTC', 'BTC', { gross: '2', fee: '0.0005', address: stranger });
    await watched.turn(2);
    await expect(watched.classify({ kind: 'withdrawal', reference }, 'cost')).rejects.toThrow(/wait until it is$/);
    watched.account.hidden.add(reference);
    watched.account.add('BTC', '2');
    for (let day = 0; day < 3; day++) {
      watched.gateway.clock.advance(86_400_000);
      await watched.turn(2);
    }
    expect(await isHeld('BTC')).toBe(true);
    await watched.classify({ kind: 'withdrawal', reference }, 'cost');
    expect(await isHeld('BTC')).toBe(false);
    expect(await watched.differences()).toEqual([]);
  });

  it('H: members can end a withdrawal that stays pending and never arrives', async () => {
    const reference = await watched.withdraw('BTC', 'BTC', { gross: '2', fee: '0.0005' });
    await watched.turn(2);
    watched.gateway.clock.advance(4 * 86_400_000);
    await watched.turn(3);
    expect(await watched.transfers()).toEqual([{ reference, state: 'asked', problem: 'not_arrived' }]);
    await watched.classify({ kind: 'withdrawal', reference }, 'cost');
    expect(await watched.booked('transit', 'BTC')).toBe('0');
    expect(await watched.differences()).toEqual([]);
  });

  it('H: members can end a withdrawal that never arrives', async () => {
    const reference = await watched.withdraw('BTC', 'BTC', {
      ...{ gross: '2', fee: '0.0005', txid: txidOf(9), state: 'done', told: 'Success' },
    });
    await watched.turn(2);
    watched.gateway.clock.advance(30 * 86_400_000);
    await watched.turn(3);
    await watched.classify({ kind: 'withdrawal', reference }, 'cost');
    expect(await watched.booked('transit', 'BTC')).toBe('0');
  });

  it('I: a foreign withdrawal to an address of another family is noted', async () => {
    const reference = await watched.withdraw('USDT', 'TRC20', {
      ...{ gross: '2000', fee: '1', address: '0xde709f2102306220921060314715629080e2fb77', state: 'done' },
    });
    await watched.turn();
    expect(await isHeld('USDT')).toBe(true);
    await watched.classify({ kind: 'withdrawal', reference }, 'cost');
    await watched.turn(2);
  });

  it('P: a worker without the key credits arrivals while another worker watches', async () => {
    const { gateway } = watched;
    await watched.arrive('BTC', 'BTC', '1');
    await watched.mine('BTC');
    for (let minute = 0; minute < 35; minute++) {
      gateway.clock.advance(60_000);
      // The other worker reads the account. This one holds the chain, and its settings name no key.
      await watched.treasury.reader?.runIfDue();
      await gateway.tick();
    }
    expect(await watched.entries()).toEqual(['funding']);
  });

  it('Q: a difference that is explained since its comparison is not classified', async () => {
    const reference = await watched.withdraw('BTC', 'BTC', { gross: '1.0005', fee: '0.0005' });
    watched.account.hidden.add(reference);
    await watched.turn(3);
    watched.account.hidden.clear();
    watched.account.holdings = async () => {
      throw new ExchangeUnavailable('silent');
    };
    await watched.turn();
    expect(await watched.entries()).toEqual(['transfer_out']);
    await expect(watched.classify({ coin: 'BTC', amount: '-1.0005' }, 'cost')).rejects.toThrow();
    watched.account.answerAgain();
    watched.account.change(reference, { state: 'returned' });
    watched.account.add('BTC', '1.0005');
    await watched.turn(2);
  });

  it('R: a transfer is found after the node of its chain was away for half an hour', async () => {
    const { gateway, treasury } = watched;
    const txid = await watched.spend('USDT', 'ERC20', '100');
    await watched.mine('ERC20');
    const reference = watched.credit('USDT', 'Tether USD (ERC20)', '100', { txid });
    const ethereum = watched.adapter('ERC20');
    const { spent } = ethereum;
    if (!spent) throw new Error('this chain tells no spends');
    ethereum.spent = async () => {
      throw new ChainError('unreachable', 'the node does not answer');
    };
    for (let minute = 0; minute < 30; minute++) {
      gateway.clock.advance(60_000);
      await gateway.tick();
      await treasury.reader?.runIfDue();
      for (const adapter of usedChains.map((chain) => gateway.settlement.adapters.get(chain))) {
        if (!adapter) continue;
        const [row] = await gateway.query<{ fence: string }>(
          'select fence::text as fence from chain_state where chain = $1',
          [adapter.chain],
        );
        const lease = { chain: adapter.chain, fence: row?.fence ?? '' };
        await treasury.transfers.run(adapter, lease).catch((error) => expect(error).toBeInstanceOf(ChainError));
      }
    }
    ethereum.spent = spent;
    await watched.turn(3);
    const [row] = await gateway.query('select part from venue_movement where reference = $1', [reference]);
    expect(row).toEqual({ part: 'transfer' });
  });

  it('S: a withdrawal by a network that the gateway does not run is no transfer on another chain', async () => {
    const reference = await watched.withdraw('USDT', 'ERC20', {
      ...{ gross: '101', fee: '1', network: 'BASE', txid: txidOf(3), state: 'done' },
    });
    await watched.turn(2);
    expect(await watched.transfers()).toEqual([]);
    watched.gateway.clock.advance(7_200_000);
    await watched.turn();
    await watched.classify({ kind: 'withdrawal', reference }, 'cost');
    await watched.turn(2);
  });

  it('J: the words of a refusal are stored, also with a NUL in them', async () => {
    watched.account.movements = async () => {
      throw new ExchangeRefusal('refused', 'EGeneral:Permission denied \u0000');
    };
    await watched.turn();
    const [row] = await watched.gateway.query('select failing_since is not null as failing from venue_account');
    expect(row).toEqual({ failing: true });
  });
});

describe('attacks that leave much behind, or need a fresh account', () => {
  let watched: WatchedGateway;
  beforeEach(async () => {
    watched = await WatchedGateway.start();
    await watched.open();
  });
  afterEach(() => watched?.stop());

  it('E: dust of strangers does not keep a transfer from being found', async () => {
    let made = 0;
    const dust = (count: number) => {
      for (let one = 0; one < count; one++) watched.credit('BTC', 'BTC', '0.00001', { txid: txidOf(++made) });
    };
    const txid = await watched.spend('BTC', 'BTC', '0.5');
    dust(200);
    await watched.turn();
    const reference = watched.credit('BTC', 'BTC', '0.5', { txid });
    await watched.mine('BTC');
    for (let minute = 0; minute < 24; minute++) {
      dust(25);
      await watched.turn();
    }
    const [row] = await watched.gateway.query('select part from venue_movement where reference = $1', [reference]);
    expect(row).toEqual({ part: 'transfer' });
  }, 300_000);

  it('M: the reader and the task of a chain wait for each other, and neither ends the other', async () => {
    for (let one = 0; one < 150; one++) watched.credit('BTC', 'BTC', '0.00001', { txid: txidOf(1_000 - one) });
    await watched.turn();
    const failures: unknown[] = [];
    for (let time = 0; time < 8; time++) {
      watched.gateway.clock.advance(16_000);
      const note = (reason: unknown) => failures.push(String(reason).slice(0, 120));
      let isOver = false;
      const matched = watched
        .match()
        .catch(note)
        .finally(() => {
          isOver = true;
        });
      // Other workers' readings, which may be longer than a minute.
      while (!isOver) await watched.treasury.reader?.read().catch(note);
      await matched;
    }
    expect(failures).toEqual([]);
  }, 120_000);

  it('N: a movement that the exchange dropped does not make every reading a reading of 90 days', async () => {
    const { account, gateway } = watched;
    const reference = watched.credit('BTC', 'BTC', '0.00001', { txid: txidOf(1), state: 'pending', told: '0' });
    await watched.turn();
    // The stranger spent the same output elsewhere.
    account.hidden.add(reference);
    gateway.clock.advance(40 * 86_400_000);
    await watched.turn(2);
    const { movements } = account;
    let oldest = Number.POSITIVE_INFINITY;
    account.movements = async (kind: MovementKind, sinceMs: number) => {
      oldest = Math.min(oldest, sinceMs);
      return movements.call(account, kind, sinceMs);
    };
    await watched.turn();
    expect(Math.round((gateway.clock.now().getTime() - oldest) / 86_400_000)).toBeLessThan(3);
  });

  it('O: dust at the hot wallet does not delay the arrival of a withdrawal', async () => {
    const reference = await watched.withdraw('BTC', 'BTC', { gross: '1.0005', fee: '0.0005' });
    await watched.withdraw('BTC', 'BTC', { gross: '3.0005', fee: '0.0005' });
    await watched.turn();
    const to = await watched.hotWallet('BTC');
    const output = (amount: bigint) => ({ to, tag: null, contract: null, amount });
    for (let one = 0; one < 22; one++) {
      await watched.gateway.settlement.sandbox.pay('bitcoin', {
        ...{ ...output(1_000n), more: Array.from({ length: 9 }, () => output(1_000n)), busyBlocks: 10 },
      });
    }
    await watched.mine('BTC', 1);
    const txid = await watched.arrive('BTC', 'BTC', '1');
    watched.account.change(reference, { txid, state: 'done', told: 'Success' });
    await watched.mine('BTC');
    await watched.turn(5);
    expect((await watched.transfers())[0]).toEqual({ reference, state: 'done', problem: null });
  });
});

it('L: a deposit of which most is a fee does not end the reading', async () => {
  const row = {
    ...{ kind: 'deposit', reference: 'D', coin: 'USDT', network: 'TRX', txid: 'a', isInternal: false, address: 'x' },
    ...{ tag: null, amount: '0.7', fee: '0.8', state: 'done', told: 'Success', atMs: 1_700_000_000_000 },
  };
  const account = new FundingAccount('kraken', { ask: async () => [row] } as never);
  expect(await account.movements('deposit', 0)).toHaveLength(1);
});

describe('attacks on the opening of the account', () => {
  let watched: WatchedGateway;
  beforeEach(async () => {
    watched = await WatchedGateway.start();
  });
  afterEach(() => watched?.stop());

  it('K: what the second member approves is what the first one saw', async () => {
    const { staffActions } = watched.gateway.settlement;
    await watched.turn(2);
    const [one, other] = await Promise.all(
      ['k1@example.com', 'k2@example.com'].map((email) => watched.gateway.staff.create(email, 'operator')),
    );
    const { id } = await staffActions.propose({
      ...{ action: 'venue_opening', venue: 'kraken', staffId: one?.member.id ?? '', reason: 'open with 10 BTC' },
    });
    watched.account.add('BTC', '-8');
    await watched.turn(3);
    await expect(staffActions.approve(id, other?.member.id ?? '')).rejects.toThrow();
  });
});
