import { createHash } from 'node:crypto';
import { Dice } from '../support/gateway/dice.ts';
import {
  type CurrencyTerms,
  type HandPrice,
  type MarketInputs,
  type QuoteInputs,
  QuotingGateway,
  seedCurrencies,
  seedPrices,
} from './quoting-gateway.ts';

export const quotesOfBlock = 10_000;
/** Quotes of one pair at the same fees, one after another. */
const quotesOfGroup = 4;
const groupsOfMarket = 100;
/** The largest whole amount that the database holds, and the smallest amount. */
const mostAmount = '99999999999999999999';
const leastAmount = '0.000000000000000001';

/** One quote as text: what was asked in which market, and everything that was answered. */
export interface QuoteLine {
  readonly block: number;
  readonly index: number;
  readonly text: string;
}

/**
 * Asks the quotes of one block, which depend on the seed and the number of the block alone. The
 * pairs take turns, so that each block has all pairs and all decimals.
 */
export async function* quotesIn(seed: number, block: number): AsyncGenerator<QuoteLine> {
  const dice = new Dice(seed ^ Math.imul(block + 1, 0x9e3779b1));
  const gateway = await QuotingGateway.open({ hasVenue: block % 4 === 3 });
  const groups = quotesOfBlock / quotesOfGroup;
  let market = randomMarket(dice, block);
  for (let group = 0; group < groups; group++) {
    if (group % groupsOfMarket === 0) {
      market = randomMarket(dice, block);
      await gateway.enter(market);
    }
    const dealing = randomDealing(dice, market, block * groups + group);
    const limits = gateway.limits(dealing);
    for (let turn = 0; turn < quotesOfGroup; turn++) {
      const asked = randomRequest(dice, dealing, limits);
      const text = JSON.stringify({
        asked,
        market: marketOf(asked, market),
        limits,
        answers: await gateway.answers(asked),
      });
      yield { block, index: group * quotesOfGroup + turn, text };
    }
  }
}

/** The SHA-256 of all quotes of a block. */
export async function digestOf(seed: number, block: number): Promise<string> {
  const hash = createHash('sha256');
  for await (const { text } of quotesIn(seed, block)) hash.update(text).update('\n');
  return hash.digest('hex');
}

/** The part of a market that a request depends on. */
function marketOf({ from, to }: QuoteInputs, { held, live, handPrices, depths }: MarketInputs): object {
  const coins = [from.coin, to.coin];
  const both = <T>(table: Readonly<Record<string, T>>) => coins.map((coin) => table[coin] ?? null);
  const byHand = handPrices.find(({ coinFrom, coinTo }) => coinFrom === from.coin && coinTo === to.coin);
  return { held: both(held), live: both(live), byHand: byHand?.price ?? null, depths: both(depths) };
}

/** A random whole number from 0 to below `count`. */
function below(dice: Dice, count: bigint): bigint {
  let random = 0n;
  // 32 bits more than the count has: the remainder then favours no number noticeably.
  for (let bound = 1n; bound >> 32n <= count; bound <<= 32n) {
    random = (random << 32n) | BigInt(Math.floor(dice.next() * 2 ** 32));
  }
  return random % count;
}

/** A decimal of `units` × 10^-`places` as plain text. */
function decimal(units: bigint, places: number): string {
  const digits = String(units).padStart(places + 1, '0');
  const whole = digits.slice(0, digits.length - places);
  const fraction = digits.slice(digits.length - places).replace(/0+$/, '');
  return fraction === '' ? whole : `${whole}.${fraction}`;
}

/** A decimal in whole units of 10^-`places`, without its finer digits. */
function unitsOf(text: string, places: number): bigint {
  const [whole = '0', fraction = ''] = text.split('.');
  return BigInt(whole + fraction.slice(0, places).padEnd(places, '0'));
}

/** A positive decimal times a random factor, cut to `places`, and at least its smallest unit. */
function scaled(text: string, parts: number, places: number): string {
  const units = (unitsOf(text, 36) * BigInt(Math.round(parts * 1e9))) / 10n ** BigInt(45 - places);
  return decimal(units > 0n ? units : 1n, places);
}

/** A factor that is as often below one as above it, at most 10^`magnitudes`. */
function factor(dice: Dice, magnitudes: number): number {
  return 10 ** dice.between(-magnitudes, magnitudes);
}

function randomPrice(dice: Dice, coin: string, isWild: boolean): string {
  const usual = seedPrices[coin] ?? '1';
  if (!isWild) return dice.chance(0.2) ? usual : scaled(usual, factor(dice, 0.5), dice.pick([8, 12, 18]));
  const bound = dice.weighted({ least: 1, most: 1, any: 8 });
  if (bound === 'least') return leastAmount;
  if (bound === 'most') return '1000000000000';
  return scaled('1', factor(dice, 6), 18);
}

function randomMarket(dice: Dice, block: number): MarketInputs {
  const isWild = dice.chance(0.15);
  const coins = Object.keys(seedPrices);
  const held = Object.fromEntries(coins.map((coin) => [coin, randomPrice(dice, coin, isWild)]));
  // The allowed drift of a held price is 0.2 percent. At 5 percent, quotes stop.
  const drift = dice.pick([0, 0.0005, 0.0005, 0.0015, 0.02, 0.04]);
  const moved = (text: string): string => scaled(text, 1 + dice.between(-drift, drift), 18);
  const live = Object.fromEntries(Object.entries(held).map(([coin, price]) => [coin, moved(price)]));
  const hasVenue = block % 4 === 3;
  const depths = hasVenue
    ? Object.fromEntries(
        coins
          .filter(() => dice.chance(0.95))
          .map((coin) => [coin, { buy: randomDepth(dice), sell: randomDepth(dice) }]),
      )
    : {};
  return {
    held,
    live: drift === 0 ? held : live,
    currencies: seedCurrencies.map((seed) => randomTerms(dice, seed)),
    handPrices: dice.chance(0.3) ? Array.from({ length: 40 }, () => randomHandPrice(dice, coins, held)) : [],
    depths,
  };
}

function randomDepth(dice: Dice): string {
  return scaled('1000000', factor(dice, 2.5), 2);
}

function randomHandPrice(dice: Dice, coins: readonly string[], held: Readonly<Record<string, string>>): HandPrice {
  const [coinFrom, coinTo] = [dice.pick(coins), dice.pick(coins)];
  const [from, to] = [unitsOf(held[coinFrom] ?? '1', 18), unitsOf(held[coinTo] ?? '1', 18)];
  const atMarket = decimal((from * 10n ** 18n) / to, 18);
  return { coinFrom, coinTo, price: scaled(atMarket, dice.between(0.98, 1.02), 18) };
}

/** A currency with the usual terms, others, or those at their bounds. */
function randomTerms(dice: Dice, seed: CurrencyTerms): CurrencyTerms {
  const { coin, network, decimals } = seed;
  const unit = decimal(1n, decimals);
  const fees = {
    usual: seed.networkFee,
    other: scaled(seed.networkFee, factor(dice, 1), decimals),
    none: '0',
    least: unit,
    most: `${mostAmount}.${'9'.repeat(decimals)}`,
  };
  const networkFee = fees[dice.weighted({ usual: 50, other: 38, none: 8, least: 3.5, most: 0.5 })];
  const least = dice.weighted({ usual: 80, unit: 15, other: 5 });
  const minAmount = { usual: seed.minAmount, unit, other: scaled(seed.minAmount, factor(dice, 1), decimals) }[least];
  const maxAmount = dice.chance(0.85) ? seed.maxAmount : `${mostAmount}.${'9'.repeat(decimals)}`;
  return { coin, network, decimals, minAmount, maxAmount, networkFee };
}

const fees = ['0', '0.000001', '0.499999'];

function randomFee(dice: Dice): string | null {
  const kind = dice.weighted({ usual: 50, bound: 10, small: 30, any: 10 });
  if (kind === 'usual') return null;
  if (kind === 'bound') return dice.pick(fees);
  return decimal(below(dice, kind === 'small' ? 50_000n : 500_000n), 6);
}

/** What a group of quotes has in common: the pair, the rate type and the fees. */
type Dealing = Pick<QuoteInputs, 'from' | 'to' | 'rateType' | 'markupBps' | 'feeRateFloat' | 'feeRateFixed'>;

function randomDealing(dice: Dice, { currencies }: MarketInputs, group: number): Dealing {
  const others = currencies.length - 1;
  const from = currencies[Math.floor(group / others) % currencies.length];
  const to = currencies.filter((currency) => currency !== from)[group % others];
  if (!from || !to) throw new Error('there are no pairs');
  const markup = dice.weighted({ none: 40, least: 4, most: 8, tooHigh: 1, any: 47 });
  return {
    from,
    to,
    rateType: dice.pick(['float', 'fixed'] as const),
    markupBps: { none: 0, least: 1, most: 500, tooHigh: 501, any: Number(below(dice, 501n)) }[markup],
    feeRateFloat: randomFee(dice),
    feeRateFixed: randomFee(dice),
  };
}

function randomRequest(dice: Dice, dealing: Dealing, limits: ReturnType<QuotingGateway['limits']>): QuoteInputs {
  const { from, to } = dealing;
  const side = dice.pick(['from', 'to'] as const);
  const currency = side === 'from' ? from : to;
  const { min, max } = limits?.[side] ?? { min: currency.minAmount, max: currency.maxAmount };
  const { decimals } = currency;
  return {
    ...dealing,
    side,
    amount: randomAmount(dice, unitsOf(min, decimals), unitsOf(max, decimals), decimals),
    clamp: dice.chance(0.2),
    country: dice.chance(0.01) ? 'KP' : null,
    arrivedParts: dice.chance(0.3) ? 10_000 : Number(below(dice, 20_001n)),
    isUsed: dice.chance(0.5),
  };
}

/** An amount between limits, at one of them, around it, or beyond all bounds. */
function randomAmount(dice: Dice, least: bigint, most: bigint, decimals: number): string {
  const span = most > least ? most - least : 1n;
  const kind = dice.weighted({
    anywhere: 30,
    small: 22,
    round: 10,
    least: 6,
    above: 3,
    below: 6,
    most: 6,
    under: 3,
    over: 6,
    fine: 4,
    zero: 1,
    tiny: 1,
    huge: 2,
  });
  switch (kind) {
    case 'anywhere':
      return decimal(least + below(dice, span), decimals);
    case 'small':
      // As likely in each order of magnitude.
      return decimal(least + (span >> below(dice, BigInt(span.toString(2).length))), decimals);
    case 'round': {
      const digits = String(least + below(dice, span));
      return decimal(BigInt(digits.slice(0, 2).padEnd(digits.length, '0')), decimals);
    }
    case 'least':
      return decimal(least, decimals);
    case 'above':
      return decimal(least + 1n, decimals);
    case 'below':
      return decimal(least > 0n ? least - 1n : 0n, decimals);
    case 'most':
      return decimal(most, decimals);
    case 'under':
      return decimal(most > 0n ? most - 1n : 0n, decimals);
    case 'over':
      return decimal(most + 1n, decimals);
    case 'fine':
      return decimal((least + below(dice, span)) * 10n + 1n, decimals + 1);
    case 'zero':
      return '0';
    case 'tiny':
      return leastAmount;
    case 'huge':
      return dice.pick([`${mostAmount}.${'9'.repeat(18)}`, '100000000000000000000', '1000000000000000000000000000000']);
  }
}
