import { Big } from '../../../src/base/money.ts';
import { ChainError } from '../../../src/chains/port/chain-adapter.ts';
import type { PriceSource } from '../../../src/market/rates/price-source.ts';
import { sandboxPrices } from '../../../src/market/rates/sources/sandbox-prices.ts';
import { Faults } from '../../support/faults/faults.ts';
import { type MadeOrder, type SettledGateway, startSettledGateway } from '../../support/gateway/settled-gateway.ts';

// Whether a deposit is in time is a fact of its chain, and not of when the gateway noticed it.

const minute = 60_000;
const faults = new Faults();
let gateway: SettledGateway;
/** The market of bitcoin, as a factor of the table; null while there is none. */
let market: string | null = '1';

const priceSource: PriceSource = {
  name: 'test',
  fetch: async (coins) => {
    const at = gateway === undefined ? new Date(0) : gateway.clock.now();
    return new Map(
      coins.flatMap((coin) => {
        const price = sandboxPrices[coin];
        if (price === undefined || market === null) return [];
        return [[coin, { price: new Big(price).times(coin === 'BTC' ? market : '1').toFixed(), at }]];
      }),
    );
  },
  paused: () => new Set(market === null ? ['BTC'] : []),
};

async function moveMarket(to: string | null): Promise<void> {
  market = to;
  await gateway.settlement.settler.tools.prices.refresh(gateway.app.catalogue.coins());
}

beforeAll(async () => {
  gateway = await startSettledGateway({ outside: { ...faults.outside(), priceSource } });
  await moveMarket('1');
});
afterAll(async () => {
  try {
    expect(await gateway.differences()).toEqual([]);
  } finally {
    await gateway?.stop();
  }
});
afterEach(async () => {
  faults.scan = null;
  faults.blockToleranceSec = null;
  await moveMarket('1');
});

const status = async (order: MadeOrder): Promise<string> => (await gateway.show(order)).status;

function nobodyReads(): void {
  faults.scan = async () => {
    throw new ChainError('unreachable', 'no route to host');
  };
}

describe('an outage of chain reading that lasts across the end of the window', () => {
  it.each(['float', 'fixed'] as const)('leaves %s deposits in time or late as their blocks say', async (rateType) => {
    const orders = [];
    for (let made = 0; made < 120; made++) orders.push(await gateway.order({ rate_type: rateType }));
    await gateway.tick();
    gateway.clock.advance(20 * minute);
    await gateway.tick();
    nobodyReads();
    // The window ends at minute 30: five blocks before it, five after it.
    const paid: { order: MadeOrder; isInTime: boolean }[] = [];
    for (let block = 0; block < 10; block++) {
      gateway.clock.advance(2 * minute - 1);
      for (const order of orders.slice(block * 12, block * 12 + 12)) {
        await gateway.deposit(order);
        paid.push({ order, isInTime: block < 5 });
      }
      await gateway.mine('BTC');
      await gateway.tick();
    }
    gateway.clock.advance(60 * minute);
    await gateway.tick();
    faults.scan = null;
    await gateway.tick();
    await gateway.mine('BTC', 2);
    for (let round = 0; round < 8; round++) {
      await gateway.tick();
      for (const network of ['BTC', 'TRC20']) await gateway.mine(network);
      gateway.clock.advance(1000);
    }
    const counts = { inTimeRefused: 0, lateTaken: 0, completed: 0, refunded: 0 };
    for (const { order, isInTime } of paid) {
      const found = await status(order);
      if (found === 'completed') counts.completed += 1;
      if (found === 'refunded') counts.refunded += 1;
      if (isInTime && found !== 'completed') counts.inTimeRefused += 1;
      if (!isInTime && found !== 'refunded') counts.lateTaken += 1;
    }
    expect(counts).toEqual({ inTimeRefused: 0, lateTaken: 0, completed: 60, refunded: 60 });
  }, 300_000);
});

describe('a transaction that waits long for its block', () => {
  it.each(['float', 'fixed'] as const)('sent at minute 29 and mined at minute 58 is late: %s', async (rateType) => {
    const order = await gateway.order({ rate_type: rateType });
    gateway.clock.advance(29 * minute);
    await gateway.deposit(order);
    await gateway.tick();
    expect(await status(order)).toBe('confirming');
    gateway.clock.advance(29 * minute);
    await gateway.mine('BTC', 2);
    await gateway.tick();
    await gateway.settle(order);
    await gateway.settle(order);
    expect(await status(order)).toBe('refunded');
  });

  it.each(['float', 'fixed'] as const)('and whose chain cannot be read counts by its block: %s', async (rateType) => {
    const order = await gateway.order({ rate_type: rateType });
    gateway.clock.advance(29 * minute);
    await gateway.deposit(order);
    await gateway.tick();
    nobodyReads();
    gateway.clock.advance(6 * minute);
    await gateway.mine('BTC', 2);
    gateway.clock.advance(60 * minute);
    await gateway.tick();
    expect(await status(order)).toBe('confirming');
    faults.scan = null;
    await gateway.settle(order);
    expect(await status(order)).toBe('completed');
  });

  it('within the grace keeps its fixed rate, and no longer', async () => {
    const [kept, lost] = [await gateway.order({ rate_type: 'fixed' }), await gateway.order({ rate_type: 'fixed' })];
    gateway.clock.advance(30 * minute);
    await gateway.deposit(kept);
    await gateway.tick();
    gateway.clock.advance(10 * minute);
    await gateway.mine('BTC', 2);
    await gateway.settle(kept);
    expect(await status(kept)).toBe('completed');
    expect(await status(lost)).toBe('expired');
  });
});

describe('a deposit whose arrival time is uncertain', () => {
  /**
   * Mined three minutes after the window on a chain that was not read, whose blocks may be ten
   * minutes wrong.
   */
  async function uncertain(rateType: string): Promise<MadeOrder> {
    faults.blockToleranceSec = 600;
    const order = await gateway.order({ rate_type: rateType });
    gateway.clock.advance(20 * minute);
    await gateway.tick();
    nobodyReads();
    gateway.clock.advance(13 * minute);
    await gateway.deposit(order);
    await gateway.mine('BTC');
    gateway.clock.advance(15 * minute);
    await gateway.mine('BTC');
    faults.scan = null;
    return order;
  }

  it('is exchanged at the market of the moment when the terms float', async () => {
    const order = await uncertain('float');
    await moveMarket('0.98');
    await gateway.settle(order);
    expect(await status(order)).toBe('completed');
  });

  it.each(['1', '1.01'])('keeps its fixed rate where the market is no worse for the user: %s', async (level) => {
    const order = await uncertain('fixed');
    await moveMarket(level);
    await gateway.settle(order);
    expect(await status(order)).toBe('completed');
    const paid = await gateway.query('select trim_scale(amount)::text as amount from payment where order_id = $1', [
      order.id,
    ]);
    expect(paid).toEqual([{ amount: order.amountTo }]);
  });

  it('goes back where its fixed rate has become better than the market', async () => {
    const order = await uncertain('fixed');
    await moveMarket('0.999');
    await gateway.settle(order);
    expect(await gateway.history(order)).toEqual(['created', 'deposit_seen', 'rate_expired', 'refund_confirmed']);
  });

  it('waits for a price before that is decided, and goes back when none comes', async () => {
    const [decided, never] = [await uncertain('fixed'), await gateway.order({ rate_type: 'fixed' })];
    await moveMarket(null);
    await gateway.tick();
    expect(await status(decided)).toBe('confirming');
    await moveMarket('1');
    gateway.clock.advance(6_000);
    await gateway.settle(decided);
    expect(await status(decided)).toBe('completed');

    gateway.clock.advance(20 * minute);
    await gateway.tick();
    nobodyReads();
    gateway.clock.advance(13 * minute);
    await gateway.deposit(never);
    await gateway.mine('BTC', 2);
    faults.scan = null;
    await moveMarket(null);
    await gateway.tick();
    expect(await status(never)).toBe('confirming');
    gateway.clock.advance(16 * minute);
    await gateway.settle(never);
    expect(await status(never)).toBe('refunded');
  });
});
