import { loadConfig } from '../../../src/config/load-config.ts';

/**
 * What fixed rates cost us with the default settings, against a pure taker of options. It creates
 * fixed orders up to its caps of each day. It does so when the held price differs from the market
 * in its favour by as much as the drift rule allows. It pays only orders that gained more than the
 * fee when their window ends.
 */

const {
  DEPOSIT_WINDOW_SEC: windowSec,
  FEE_RATE_FIXED: fee,
  FIXED_MAX_DRIFT: drift,
  FIXED_RATE_HOLD_SEC: holdSec,
  MAX_FIXED_DAY_USD: dayUsd,
  MAX_FIXED_EXPOSURE_USD: hourUsd,
} = loadConfig({});

const yearSec = 365.25 * 86_400;
const jump = 0.02;

interface Model {
  /** Of the pair, a year. */
  readonly volatility: number;
  /** Of 2 % up or down, a day. */
  readonly jumps: number;
  /** Whether every order begins at the most favourable drift; otherwise at the market. */
  readonly isBestMoment: boolean;
}

/**
 * What a dollar of options is worth when the market moves by a normal part of this spread and a
 * sure one.
 */
function optionValue(spread: number, sure: number, strike: number): number {
  const steps = 4_000;
  const reach = 8;
  let value = 0;
  for (let i = 0; i < steps; i++) {
    const deviation = ((i + 0.5) / steps) * 2 * reach - reach;
    const density = Math.exp((-deviation * deviation) / 2) / Math.sqrt(2 * Math.PI);
    value += Math.max(0, sure + deviation * spread - strike) * density * ((2 * reach) / steps);
  }
  return value;
}

/** US dollars a day. */
function expectedLoss({ volatility, jumps, isBestMoment }: Model, optionSec = windowSec): number {
  const spread = volatility * Math.sqrt(optionSec / yearSec);
  const strike = Number(fee) - (isBestMoment ? Number(drift) : 0);
  const jumpsInWindow = (jumps * optionSec) / 86_400;
  const jumped = (optionValue(spread, jump, strike) + optionValue(spread, -jump, strike)) / 2;
  return dayUsd * ((1 - jumpsInWindow) * optionValue(spread, 0, strike) + jumpsInWindow * jumped);
}

describe('the default caps of fixed orders', () => {
  it.each([
    ['at 60 % volatility', { volatility: 0.6, jumps: 0 }, 100],
    ['at 60 %, with a jump of 2 % a day', { volatility: 0.6, jumps: 1 }, 100],
    ['at 100 % volatility', { volatility: 1, jumps: 0 }, 1_000],
    ['at 100 %, with four jumps of 2 % a day', { volatility: 1, jumps: 4 }, 1_000],
    ['on a pair of two coins at 60 % that move apart', { volatility: 0.6 * Math.SQRT2, jumps: 0 }, 100],
  ])('bound the expected loss to a taker %s', (_, model, boundUsd) => {
    const market = expectedLoss({ ...model, isBestMoment: false });
    const best = expectedLoss({ ...model, isBestMoment: true });
    expect(market).toBeLessThan(best);
    expect(best).toBeLessThan(boundUsd);
    // A binding quote lets the taker wait for its hold before the window of the order begins.
    const quoted = expectedLoss({ ...model, isBestMoment: true }, windowSec + holdSec);
    expect(quoted).toBeLessThan(best * 1.1);
  });

  it('bound the loss by one price jump of 2 % to the cap of one hour', () => {
    expect(hourUsd * (jump - Number(fee) + Number(drift))).toBeLessThanOrEqual(3_000);
  });
});
