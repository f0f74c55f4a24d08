import { type StellarHarness, stellarHarness } from '../../support/chains/stellar-harness.ts';
import { type XrpHarness, xrpHarness } from '../../support/chains/xrp-harness.ts';

/** Above it, deposits of a day need a second server. */
const limit = 1_000_000n;
const above = { twoNodesAbove: new Map([['', limit]]) };

const ledgers: readonly (readonly [name: string, start: () => Promise<XrpHarness | StellarHarness>])[] = [
  ['the XRP Ledger', () => xrpHarness(above)],
  ['Stellar', () => stellarHarness(above)],
];

describe.each(ledgers)('deposits on %s, above the limit of one server', (_name, start) => {
  let bench: XrpHarness | StellarHarness;
  beforeEach(async () => {
    bench = await start();
  });
  afterEach(() => bench.stop());

  /** What a scan finds for the wallet from here on. */
  async function arrivals(amounts: readonly bigint[]): Promise<bigint[]> {
    const { adapter, hot } = bench;
    const cursor = { window: [await adapter.head()] };
    for (const amount of amounts) {
      await bench.pay(hot, '7', null, amount);
      await bench.mine(1);
    }
    const { blocks } = await adapter.scan(cursor, 20);
    return blocks.flatMap(({ transfers }) => transfers).map(({ amount }) => amount);
  }

  /** The second server is away. */
  function silence(): void {
    const [, second] = bench.nodes;
    second.faults = { transport: 503 };
  }

  it('count when two servers tell the same', async () => {
    expect(await arrivals([limit + 1n])).toEqual([limit + 1n]);
  });

  it('wait while the second one is away; those up to the limit of the day do not', async () => {
    silence();
    expect(await arrivals([limit])).toEqual([limit]);
    await expect(arrivals([1n])).rejects.toMatchObject({ code: 'busy' });
    const [, second] = bench.nodes;
    second.faults = {};
    expect(await arrivals([2n])).toEqual([2n]);
  });

  it('stop the scan when the second one tells another ledger', async () => {
    const [, second] = bench.nodes;
    second.faults = { ledger: 'fork' };
    await expect(arrivals([limit + 1n])).rejects.toMatchObject({ code: 'nodes_disagree' });
  });

  it('need none of strangers', async () => {
    silence();
    const { adapter } = bench;
    const cursor = { window: [await adapter.head()] };
    await bench.pay(bench.address(), null, null, limit * 5n);
    await bench.mine(1);
    expect((await adapter.scan(cursor, 20)).blocks.flatMap(({ transfers }) => transfers)).toHaveLength(1);
  });
});
