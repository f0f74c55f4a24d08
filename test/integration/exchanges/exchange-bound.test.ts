import { Big } from '../../../src/money.ts';
import type { ExchangeVenue } from '../../../src/settlement/exchange-venue.ts';
import type { LoopbackLevel } from '../../support/loopback-exchange.ts';
import { loopbackVenues, VenueHarness } from '../../support/venue-harness.ts';

describe.each(loopbackVenues)('what a trade at $name may lose', ({ name, cash, place }) => {
  const harness = new VenueHarness({ name, cash });
  const { exchange } = harness;
  let venue: ExchangeVenue;
  beforeAll(() => harness.start());
  afterAll(() => harness.stop());
  beforeEach(() => {
    harness.reset();
    venue = harness.openVenue();
  });
  const thin: LoopbackLevel[] = [['80', '10'], ['77', '90'], ['70', '100'], ['60', '300'], ['50', '500']];
  const large = { sellCoin: 'LTC', sellAmount: '1000', buyCoin: 'BTC', buyAmount: '1.25', minBuyAmount: '1.225' };
  function lost(): string {
    return new Big(harness.gained(cash)).plus(new Big(harness.gained('LTC')).times('80')).plus(new Big(harness.gained('BTC')).times('64000')).toFixed(0);
  }
  it('thin', async () => {
    harness.reset({ LTC: { bids: thin } });
    const one = harness.order(large);
    const a = await venue.trade(one).catch(String);
    for (let i = 0; i < 20; i++) await harness.openVenue().settleCash();
    console.log(name, JSON.stringify(a), lost(), harness.gained('LTC'), harness.gained('BTC'));
  }, 60000);
  it('attacker', async () => {
    harness.reset({ LTC: { bids: [['80', '2000'], ['50', '5000']] } });
    let placed = 0;
    exchange.onRequest = () => {
      const asked = exchange.asked.at(-1) ?? '';
      if (asked.startsWith('POST') && asked.endsWith(`/${place}`)) placed += 1;
      const book = exchange.books.get(`LTC/${cash}`);
      if (placed === 1 && book) book.bids = [['50', '5000']];
    };
    const one = harness.order(large);
    const a = await venue.trade(one).catch(String);
    for (let i = 0; i < 20; i++) await harness.openVenue().settleCash();
    console.log(name, JSON.stringify(a), lost(), harness.gained('LTC'), harness.gained('BTC'));
  }, 60000);
});
