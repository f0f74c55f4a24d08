import { Big, floorTo, formatDecimal, isStorable } from '../../../src/base/money.ts';
import { amountFromFor, termsAt } from '../../../src/market/rates/quote.ts';
import {
  bindingQuotes,
  quotingPartner as partner,
  quoteRequest,
  quotedRows as rows,
} from '../../support/gateway/binding-quotes.ts';
import { Dice } from '../../support/gateway/dice.ts';

/** A random whole number from 0 to below `count`. */
function below(dice: Dice, count: number): number {
  return Math.floor(dice.next() * count);
}

describe('30,000 random quotes over all pairs', () => {
  /** A random decimal of up to nine significant digits between two decimals. */
  const between = (dice: Dice, least: Big, most: Big, decimals: number): Big => {
    const part = new Big(String(below(dice, 1_000_000_001))).div('1000000000');
    const skewed = below(dice, 2) === 0 ? part : part.times(part).times(part);
    const amount = floorTo(least.plus(most.minus(least).times(skewed)), decimals);
    return amount.lt(least) ? least : amount;
  };

  it('have parts that add up, and in reverse give what was asked with a bounded surplus', async () => {
    const { quotes } = await bindingQuotes();
    const dice = new Dice(17);
    const pairs = rows.flatMap((from) => rows.filter((to) => to !== from).map((to) => [from, to] as const));
    const limits = new Map<string, ReturnType<typeof quotes.quote>['limits']>();
    const wrong: object[] = [];
    let reversed = 0;
    for (let i = 0; i < 30_000; i++) {
      const [from, to] = pairs[i % pairs.length] ?? [];
      if (!from || !to) throw new Error('there are no pairs');
      const side = i % 2 === 0 ? 'to' : 'from';
      const base = quoteRequest({
        coinFrom: from.coin,
        networkFrom: from.network,
        coinTo: to.coin,
        networkTo: to.network,
        rateType: below(dice, 2) === 0 ? 'fixed' : 'float',
        markupBps: dice.pick([0, 40, 500]),
        side,
      });
      const name = `${from.id} ${to.id}`;
      const known =
        limits.get(name) ??
        quotes.quote({ ...base, side: 'from', amount: new Big(`1e-${from.decimals}`), clamp: true }, partner).limits;
      limits.set(name, known);
      const { min, max } = known[side];
      const amount = between(dice, new Big(min), new Big(max), side === 'to' ? to.decimals : from.decimals);
      // The limits depend on the fees, so that amounts near a limit are moved to it.
      const quote = quotes.quote({ ...base, amount, clamp: true }, partner);
      const { parts, token, terms } = quote;
      const sum = parts.gross
        .minus(parts.serviceFee)
        .minus(parts.partnerMarkup)
        .minus(parts.networkFee)
        .minus(parts.rounding);
      const amountFrom = new Big(token.amountFrom);
      const isExact =
        sum.eq(token.amountTo) &&
        Object.values(parts).every((part) => part.gte('0') && isStorable(part)) &&
        floorTo(amountFrom.times(terms.rate), to.decimals).eq(token.amountTo);
      if (!isExact) wrong.push({ base, amount, parts, token });
      if (i % 100 === 0) expect(quotes.read(quote.id, partner.id)).toEqual(quote);
      if (side === 'from' || token.clamped) continue;
      reversed++;
      const surplus = new Big(token.amountTo).minus(amount);
      const unitFrom = new Big(`1e-${from.decimals}`).times(token.priceFrom).div(token.priceTo);
      const bound = new Big(`1e-${to.decimals}`).plus(unitFrom).plus(amountFrom.times('1e-18'));
      const isBounded = surplus.gte('0') && surplus.lte(bound);
      if (!isBounded) wrong.push({ base, amount, surplus });
    }
    expect(wrong).toEqual([]);
    expect(reversed).toBeGreaterThan(14_000);
  });

  it('at random prices and decimals never give less in reverse than was asked', () => {
    const dice = new Dice(18);
    const wrong: object[] = [];
    const random = (digits: number): string => String(1 + below(dice, 10 ** digits - 1));
    for (let i = 0; i < 30_000; i++) {
      const prices = {
        from: new Big(`${random(9)}e-${below(dice, 12)}`),
        to: new Big(`${random(9)}e-${below(dice, 12)}`),
      };
      const decimals = { from: below(dice, 19), to: below(dice, 19) };
      const to = {
        decimals: decimals.to,
        minAmount: '0',
        maxAmount: '1',
        networkFee: formatDecimal(floorTo(new Big(`${random(6)}e-${below(dice, 8)}`), 18)),
      };
      const fee = new Big(`${below(dice, 60_000)}e-6`);
      const amountTo = floorTo(new Big(`${random(9)}e-${below(dice, 10)}`), to.decimals);
      if (amountTo.eq('0')) continue;
      const amountFrom = amountFromFor(amountTo, prices, { decimals: decimals.from }, to, fee);
      if (!amountFrom) continue;
      const surplus = termsAt(prices, to, fee)(amountFrom).amountTo.minus(amountTo);
      const unitFrom = new Big(`1e-${decimals.from}`).times(prices.from).div(prices.to);
      const bound = new Big(`1e-${to.decimals}`).plus(unitFrom).plus(amountFrom.times('1e-18'));
      const isBounded = surplus.gte('0') && surplus.lte(bound);
      if (!isBounded) wrong.push({ prices, decimals, to, fee, amountTo, surplus });
    }
    expect(wrong).toEqual([]);
  });
});
