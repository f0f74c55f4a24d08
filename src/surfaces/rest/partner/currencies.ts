import { AppError } from '../../../base/errors.ts';
import { jsonNumber } from '../../../base/money.ts';
import type { components } from '../../../generated/openapi.ts';
import type { Currency } from '../../../market/currencies/currency.entity.ts';
import type { CurrencyCatalogue } from '../../../market/currencies/currency-catalogue.ts';
import { coinIcon, coinIconPath } from '../../../market/currencies/icons.ts';
import { CachedBytes, CachedJson } from '../api/cached-bytes.ts';
import { json } from '../api/json.ts';
import type { Handler } from './handler.ts';

type CurrencyBody = components['schemas']['Currency'];

const yearSec = 31_536_000;

/** GET /currencies. Its bytes are written once for each change of the catalogue. */
export function listCurrenciesHandler(catalogue: CurrencyCatalogue): Handler<'listCurrencies'> {
  let written: { rows: readonly Currency[]; json: CachedJson } | undefined;
  return ({ call }) => {
    if (written?.rows !== catalogue.rows) {
      const { rows } = catalogue;
      const active = rows.filter((row) => row.isActive).map(currencyBody);
      written = { rows, json: new CachedJson(json(active)) };
    }
    return written.json.answer(call, { 'Cache-Control': 'public, max-age=5' });
  };
}

/** GET /coin-icons/{file} */
export function getCoinIconHandler(catalogue: CurrencyCatalogue): Handler<'getCoinIcon'> {
  const icons = new Map<string, CachedBytes>();
  return ({ path, query, call }) => {
    const coin = /^([a-z0-9]{1,12})\.svg$/.exec(path.file)?.[1];
    if (coin === undefined || !catalogue.coins().includes(coin.toUpperCase())) {
      throw new AppError('not_found', 'there is no such icon; GET /currencies names each coin’s icon_url');
    }
    const { svg, version } = coinIcon(coin.toUpperCase());
    const bytes = icons.get(coin) ?? new CachedBytes(svg);
    icons.set(coin, bytes);
    const answer = bytes.answer(call, {
      'Cache-Control': query.v === version ? `public, max-age=${yearSec}, immutable` : 'public, max-age=300',
      'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
    });
    return answer.status === 304 ? answer : { status: 200, image: answer.body, headers: answer.headers };
  };
}

function currencyBody(row: Currency): CurrencyBody {
  return {
    id: row.id,
    coin: row.coin,
    network: row.network,
    name: row.name,
    is_active: row.isActive,
    is_deposit_enabled: row.isDepositEnabled,
    is_withdraw_enabled: row.isWithdrawEnabled,
    min_amount: jsonNumber(row.minAmount),
    max_amount: jsonNumber(row.maxAmount),
    min_confirmations: row.minConfirmations,
    decimals: row.decimals,
    is_memo: row.isMemo,
    explorer_tx_url: row.explorerTxUrl,
    explorer_address_url: row.explorerAddressUrl,
    icon_url: coinIconPath(row.coin),
  };
}
