import type { Config } from './settings.ts';

/** Most US dollars in an hour and in a day. */
interface UsdLimit {
  readonly hour: number;
  readonly day: number;
}

/**
 * Limits of the value of automatic payments that begin: of all assets together, and of each asset.
 */
interface PayoutRules {
  /**
   * Shares of each limit that all refunds, the payments of one partner, and all commission may use:
   * fractions.
   */
  readonly parts: { readonly refunds: string; readonly partner: string; readonly commission: string };
  readonly overall: UsdLimit;
  readonly asset: (asset: { readonly coin: string; readonly network: string }) => UsdLimit;
}

/** The limits of automatic payments, from the settings. */
export function payoutRules(config: Config): PayoutRules {
  const { PAYOUT_LIMIT_ASSET_USD_PER_HOUR: perHour, PAYOUT_LIMIT_ASSET_USD_PER_DAY: perDay } = config;
  return {
    parts: {
      refunds: config.PAYOUT_SHARE_REFUNDS,
      partner: config.PAYOUT_SHARE_PARTNER,
      commission: config.PAYOUT_SHARE_COMMISSION,
    },
    overall: { hour: config.PAYOUT_LIMIT_USD_PER_HOUR, day: config.PAYOUT_LIMIT_USD_PER_DAY },
    asset: ({ coin, network }) => {
      const name = `${coin}/${network}`;
      return { hour: perHour.named.get(name) ?? perHour.each, day: perDay.named.get(name) ?? perDay.each };
    },
  };
}
