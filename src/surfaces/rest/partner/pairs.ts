import { LRUCache } from 'lru-cache';
import { AppError, type TwoSidedLimits } from '../../../base/errors.ts';
import { jsonNumber } from '../../../base/money.ts';
import type { components } from '../../../generated/openapi.ts';
import type { Assets } from '../../../market/currencies/assets.ts';
import type { Currency } from '../../../market/currencies/currency.entity.ts';
import type { CurrencyCatalogue } from '../../../market/currencies/currency-catalogue.ts';
import type { Pricing, RateService } from '../../../market/rates/rate-service.ts';
import { CachedJson } from '../api/cached-bytes.ts';
import { json } from '../api/json.ts';
import type { ApiRequest, Handler, Refusal } from './handler.ts';
import { shownPricing } from './rates.ts';

type PairBody = components['schemas']['Pair'];
type LimitsBody = components['schemas']['PairLimits'];

/** How long a list is answered again: the limits of coin_to follow the market. */
const keptMs = 5_000;
/** A list for each source currency and each pricing of a partner. */
const keptLists = 200;

interface KeptList {
  readonly rows: readonly Currency[];
  readonly writtenAt: number;
  readonly json: CachedJson;
}

interface PairsOptions {
  readonly catalogue: CurrencyCatalogue;
  readonly assets: Assets;
  readonly rates: RateService;
}

/** GET /partner/pairs. A list is written at most once in five seconds for each pricing. */
export function listPairsHandler(options: PairsOptions): Handler<'listPairs'> {
  const { catalogue, rates } = options;
  const lists = new LRUCache<string, KeptList>({ max: keptLists });
  return (request) => {
    const pricing = shownPricing(rates, request.call.caller);
    const from = sourceOf(rates, request);
    const key = `${from.id} ${pricing.float} ${pricing.fixed}`;
    const { rows } = catalogue;
    const now = performance.now();
    let kept = lists.get(key);
    if (kept?.rows !== rows || now - kept.writtenAt >= keptMs) {
      kept = { rows, writtenAt: now, json: pairsJson(from, pricing, options) };
      lists.set(key, kept);
    }
    return kept.json.answer(request.call, { 'Cache-Control': 'private, max-age=5' });
  };
}

/** Finds the faults of a list's request beyond the contract. */
export function listPairsRefusal(rates: RateService): Refusal<'listPairs'> {
  return async (request) => {
    try {
      sourceOf(rates, request);
      return null;
    } catch (error) {
      if (error instanceof AppError) return error;
      throw error;
    }
  };
}

function sourceOf(rates: RateService, { query }: ApiRequest<'listPairs'>): Currency {
  return rates.source(query.coin_from, query.network_from);
}

/** The pairs of a source currency that can be exchanged at present, at one rate type at least. */
function pairsJson(from: Currency, pricing: Pricing, { catalogue, assets, rates }: PairsOptions): CachedJson {
  const targets = catalogue.rows.filter((row) => row !== from && row.isActive && row.isWithdrawEnabled);
  const data = targets.flatMap((to): PairBody[] => {
    const float = rates.limits({ from, to }, 'float', pricing);
    const fixed = rates.limits({ from, to }, 'fixed', pricing);
    if (!float && !fixed) return [];
    return [
      {
        coin_from: from.coin,
        network_from: from.network,
        asset_from: assets.of(from).id,
        coin_to: to.coin,
        network_to: to.network,
        asset_to: assets.of(to).id,
        float: float && { limits: limitsBody(float) },
        fixed: fixed && { limits: limitsBody(fixed) },
      },
    ];
  });
  return new CachedJson(json({ data, has_more: false }), ['Authorization', 'X-API-Key']);
}

/** The limits of a pair as JSON. */
export function limitsBody({ from, to }: TwoSidedLimits): LimitsBody {
  return {
    from: { min: jsonNumber(from.min), max: jsonNumber(from.max) },
    to: { min: jsonNumber(to.min), max: jsonNumber(to.max) },
  };
}
