import type { PriceWindows, SharedWindow, WindowPrices } from '../../../src/market/rates/price-windows.ts';

/** Windows that the price books of one test share, without a database. */
export class PriceWindowsInMemory implements PriceWindows {
  readonly decided = new Map<number, WindowPrices>();
  isAway = false;

  async newest(until: Date): Promise<SharedWindow | null> {
    if (this.isAway) throw new Error('the database is away');
    const begun = [...this.decided.keys()].filter((ms) => ms <= until.getTime());
    const prices = this.decided.get(Math.max(...begun));
    return prices ? { startsAt: new Date(Math.max(...begun)), prices } : null;
  }

  async at(startsAt: Date): Promise<WindowPrices | null> {
    if (this.isAway) throw new Error('the database is away');
    return this.decided.get(startsAt.getTime()) ?? null;
  }

  async between(from: Date, until: Date): Promise<readonly SharedWindow[]> {
    if (this.isAway) throw new Error('the database is away');
    return [...this.decided]
      .filter(([ms]) => ms >= from.getTime() && ms <= until.getTime())
      .toSorted(([one], [other]) => other - one)
      .map(([ms, prices]) => ({ startsAt: new Date(ms), prices }));
  }

  async decide(startsAt: Date, propose: (last: WindowPrices | null) => WindowPrices): Promise<WindowPrices> {
    if (this.isAway) throw new Error('the database is away');
    const known = [...this.decided.keys()].filter((ms) => ms <= startsAt.getTime());
    const { fixed, reference, overrides, depth } = propose(this.decided.get(Math.max(...known)) ?? null);
    const earlier = this.decided.get(startsAt.getTime());
    const prices = {
      fixed: { ...fixed, ...earlier?.fixed },
      reference: { ...reference, ...earlier?.reference },
      overrides: earlier?.overrides ?? overrides,
      depth: { ...depth, ...earlier?.depth },
    };
    this.decided.set(startsAt.getTime(), prices);
    return prices;
  }
}
