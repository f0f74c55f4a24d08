import { loopbackVenues, VenueHarness } from '../support/exchanges/venue-harness.ts';

describe.each(loopbackVenues)('ExchangeVenue at $name', (setup) => {
  const harness = new VenueHarness(setup);
  beforeAll(async () => {
    await harness.start();
    harness.reset();
  });
  afterAll(() => harness.stop());

  it('buys once, whichever request it is killed at, and whether that request arrives or not', async () => {
    // The first trade also asks for the markets, and the others, killed in between, do not.
    await harness.openVenue().trade(harness.order());
    harness.reset();
    await harness.openVenue().trade(harness.order());
    const requests = harness.exchange.asked.length;
    expect(requests).toBeGreaterThan(6);
    for (let at = 1; at <= requests; at++) {
      for (const arrives of [true, false]) {
        const told = await harness.killAt((number) => number === at, arrives);
        expect({ at, arrives, ...told }).toEqual({ at, arrives, ...harness.killed() });
      }
    }
  });
});
