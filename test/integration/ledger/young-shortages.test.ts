import { WatchedGateway } from '../../support/exchanges/watched-account.ts';
import { startSettledGateway } from '../../support/gateway/settled-gateway.ts';

// A person spends coins of the hot wallet by hand, and a comparison meets that before the exchange
// lists the deposit.

const hourMs = 3_600_000;
const listedMs = 600_000;

describe('a shortage of a hot wallet that an exchange may explain', () => {
  let watched: WatchedGateway;
  beforeAll(async () => {
    watched = await WatchedGateway.start();
    await watched.open();
  });
  beforeEach(() => {
    watched.gateway.clock.advance(hourMs);
  });
  afterAll(() => watched?.stop());

  const holds = () =>
    watched.gateway.query(
      'select coin, cleared_at is null as stands from payout_hold where closed_at is null order by coin',
    );
  const compare = () => watched.gateway.settlement.reconciliations?.runIfDue();

  it('holds no payouts before the exchange had time to list it, and none after it did', async () => {
    const txid = await watched.spend('BTC', 'BTC', '0.5');
    await watched.mine('BTC');
    expect(await compare()).toBe(true);
    expect(await holds()).toEqual([]);
    watched.credit('BTC', 'BTC', '0.5', { txid });
    await watched.turn(3);
    watched.gateway.clock.advance(listedMs);
    expect(await compare()).toBe(true);
    expect(await holds()).toEqual([]);
    expect(await watched.differences()).toEqual([]);
    // Nothing is left to look at again.
    watched.gateway.clock.advance(listedMs);
    expect(await compare()).toBe(false);
  });

  it('holds payouts once the exchange had time and did not, also where it goes on', async () => {
    await watched.spend('BTC', 'BTC', '0.5');
    await watched.mine('BTC');
    expect(await compare()).toBe(true);
    expect(await holds()).toEqual([]);
    expect(await compare()).toBe(false);
    await watched.spend('BTC', 'BTC', '0.25');
    await watched.mine('BTC');
    watched.gateway.clock.advance(listedMs);
    expect(await compare()).toBe(true);
    expect(await holds()).toEqual([{ coin: 'BTC', stands: true }]);
  });

  it('does not clear a hold when another worker finds it for the first time', async () => {
    const { clock, databaseUrl } = watched.gateway;
    const other = await startSettledGateway({ clock, databaseUrl, settings: { ROLE: 'worker' } });
    try {
      expect(await other.settlement.reconciliations?.runIfDue()).toBe(true);
    } finally {
      await other.stop();
    }
    expect(await holds()).toEqual([{ coin: 'BTC', stands: true }]);
  });
});
