import type { ApiKey } from '../../accounts/partners/api-key.entity.ts';
import type { Partner } from '../../accounts/partners/partner.entity.ts';
import type { StaffMember } from '../../accounts/staff/staff-member.entity.ts';
import { formatDecimal } from '../../base/money.ts';
import type { Currency } from '../../market/currencies/currency.entity.ts';

/** A flat record: `name: value` lines for people, one JSON object for programs. */
export type Fields = Record<string, string | number | boolean | null | readonly string[]>;

/**
 * Prints one result on standard output: one JSON object with `--json`, lines for people without.
 */
export function print(result: Fields | { readonly [list: string]: readonly Fields[] }, json: boolean): void {
  if (json) {
    process.stdout.write(`${JSON.stringify(result)}\n`);
    return;
  }
  const [first] = Object.entries(result);
  if (Object.keys(result).length === 1 && first && Array.isArray(first[1]) && typeof first[1][0] !== 'string') {
    printTable(first[1] as readonly Fields[], first[0]);
    return;
  }
  const width = Math.max(...Object.keys(result).map((name) => name.length));
  for (const [name, value] of Object.entries(result as Fields)) {
    process.stdout.write(`${name.padEnd(width)}  ${shown(value)}\n`);
  }
}

function printTable(rows: readonly Fields[], name: string): void {
  const [first] = rows;
  if (!first) {
    process.stdout.write(`no ${name}\n`);
    return;
  }
  const columns = Object.keys(first);
  const lines = [columns, ...rows.map((row) => columns.map((column) => shown(row[column] ?? null)))];
  const widths = columns.map((_, i) => Math.max(...lines.map((line) => line[i]?.length ?? 0)));
  for (const line of lines) {
    process.stdout.write(
      `${line
        .map((cell, i) => cell.padEnd(widths[i] ?? 0))
        .join('  ')
        .trimEnd()}\n`,
    );
  }
}

function shown(value: Fields[string]): string {
  if (value === null) return '-';
  return Array.isArray(value) ? value.join(',') || '-' : String(value);
}

export function partnerFields(partner: Partner): Fields {
  return {
    id: partner.id,
    name: partner.name,
    status: partner.status,
    fee_rate_float: partner.feeRateFloat === null ? null : formatDecimal(partner.feeRateFloat),
    fee_rate_fixed: partner.feeRateFixed === null ? null : formatDecimal(partner.feeRateFixed),
    rate_limit_per_min: partner.rateLimitPerMin,
    orders_limit_per_min: partner.ordersLimitPerMin,
    lists_limit_per_min: partner.listsLimitPerMin,
    max_open_orders: partner.maxOpenOrders,
    max_fixed_exposure_usd: partner.maxFixedExposureUsd,
    max_fixed_day_usd: partner.maxFixedDayUsd,
    max_float_exposure_usd: partner.maxFloatExposureUsd,
    keeps_fixed_caps: partner.keepsFixedCaps,
    max_markup_bps: partner.maxMarkupBps,
    quote_hold_sec: partner.quoteHoldSec,
    quote_adverse_bps: partner.quoteAdverseBps === null ? null : formatDecimal(partner.quoteAdverseBps),
    quote_cut_since: partner.quoteCutSince?.toISOString() ?? null,
    require_signature: partner.requireSignature,
    public_status: partner.publicStatus,
    order_page: partner.orderPage,
    display_name: partner.displayName,
    created_at: partner.createdAt.toISOString(),
  };
}

export function keyFields(key: ApiKey): Fields {
  return {
    key_id: key.keyId,
    label: key.label,
    last4: key.last4,
    scopes: key.scopes,
    allowed_cidrs: key.allowedCidrs,
    default_markup_bps: key.defaultMarkupBps,
    created_at: key.createdAt.toISOString(),
    expires_at: key.expiresAt?.toISOString() ?? null,
    revoked_at: key.revokedAt?.toISOString() ?? null,
    last_used_at: key.lastUsedAt?.toISOString() ?? null,
  };
}

export function staffFields(member: StaffMember): Fields {
  return {
    id: member.id,
    email: member.email,
    role: member.role,
    created_at: member.createdAt.toISOString(),
    revoked_at: member.revokedAt?.toISOString() ?? null,
  };
}

export function currencyFields(row: Currency): Fields {
  return {
    coin: row.coin,
    network: row.network,
    name: row.name,
    active: row.isActive,
    deposit: row.isDepositEnabled,
    withdraw: row.isWithdrawEnabled,
    min_amount: formatDecimal(row.minAmount),
    max_amount: formatDecimal(row.maxAmount),
    network_fee: formatDecimal(row.networkFee),
    min_confirmations: row.minConfirmations,
    decimals: row.decimals,
  };
}
