import { jsonNumber } from '../../../base/money.ts';
import type { components } from '../../../generated/openapi.ts';
import type { Assets } from '../../../market/currencies/assets.ts';
import type { Currency } from '../../../market/currencies/currency.entity.ts';
import type { CurrencyCatalogue } from '../../../market/currencies/currency-catalogue.ts';
import { CachedJson } from '../api/cached-bytes.ts';
import { json } from '../api/json.ts';
import type { Handler } from './handler.ts';

type AssetBody = components['schemas']['Asset'];

/** GET /partner/assets. Its bytes are written once for each change of the catalogue. */
export function listAssetsHandler(catalogue: CurrencyCatalogue, assets: Assets): Handler<'listAssets'> {
  let written: { rows: readonly Currency[]; json: CachedJson } | undefined;
  return ({ call }) => {
    if (written?.rows !== catalogue.rows) {
      const { rows } = catalogue;
      const data = rows.filter((row) => row.isActive).map((row) => assetBody(row, assets));
      written = {
        rows,
        json: new CachedJson(json({ data, has_more: false })),
      };
    }
    return written.json.answer(call, { 'Cache-Control': 'public, max-age=5' });
  };
}

function assetBody(row: Currency, assets: Assets): AssetBody {
  const { id, chainId, standsFor, tag } = assets.of(row);
  return {
    asset: id,
    chain: chainId,
    stands_for: standsFor,
    coin: row.coin,
    network: row.network,
    name: row.name,
    contract: row.contract,
    decimals: row.decimals,
    min_amount: jsonNumber(row.minAmount),
    max_amount: jsonNumber(row.maxAmount),
    min_confirmations: row.minConfirmations,
    is_deposit_enabled: row.isDepositEnabled,
    is_withdraw_enabled: row.isWithdrawEnabled,
    tag: tag && { name: tag.name, format: tag.format, is_usual: tag.isUsual },
    explorer_tx_url: row.explorerTxUrl,
    explorer_address_url: row.explorerAddressUrl,
  };
}
