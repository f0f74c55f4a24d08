import { randomUUID } from 'node:crypto';
import { Big } from '../../../src/base/money.ts';
import { addressExample } from '../../../src/chains/addresses/address.ts';
import { networkById } from '../../../src/chains/networks/networks.ts';
import { book, line, minus } from '../../../src/ledger/ledger.ts';
import { monthOf } from '../../../src/settlement/commission/commission-entries.ts';
import type { SettledGateway } from './settled-gateway.ts';

/** What a partner is to be paid. */
export interface CommissionTerms {
  readonly partnerId: string;
  readonly amount: string;
  readonly fee?: string;
  /** What the partner earned; the amount with the fee unless given. */
  readonly earned?: string;
  /** A coin of the chain of its own name; BTC unless given. */
  readonly coin?: string;
  /** How many months ago the month was; 1 unless given. */
  readonly monthsAgo?: number;
}

/** A payment of commission, with the month that it settles. */
export interface MadeCommission {
  readonly id: string;
  readonly partnerId: string;
  readonly month: string;
}

/** Adds to what a partner has earned in a month, as if it had been converted. */
export async function earn(
  { app, clock, query }: SettledGateway,
  {
    partnerId,
    month,
    coin = 'BTC',
    amount,
  }: Pick<CommissionTerms, 'partnerId' | 'coin' | 'amount'> & { month: string },
): Promise<void> {
  const now = clock.now();
  await query(
    `insert into commission_statement (partner_id, month, coin, network) values ($1, $2, $3, $3) on conflict do nothing`,
    [partnerId, month, coin],
  );
  if (amount === '0') return;
  await query(
    `insert into commission_entry (id, partner_id, month, at, kind, coin, network, amount)
     values ($1, $2, $3, $4, 'conversion', $5, $5, $6)`,
    [randomUUID(), partnerId, month, now, coin, amount],
  );
  const asset = { coin, network: coin };
  const lines = [line('trading', asset, amount), line(`partner:${partnerId}`, asset, minus(amount))];
  await book(app.orm.em.fork(), { kind: 'markup', reference: randomUUID(), orderId: null, at: now, lines });
}

/** Closes a month of a partner with a balance, and decides its payment. */
export async function commissionPayment(
  gateway: SettledGateway,
  { partnerId, amount, fee = '0.0001', earned, coin = 'BTC', monthsAgo = 1 }: CommissionTerms,
): Promise<MadeCommission> {
  const { app, clock, query } = gateway;
  const now = clock.now();
  const month = monthOf(new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - monthsAgo, 1)));
  const due = new Big(amount).plus(fee).toFixed();
  await earn(gateway, { partnerId, month, coin, amount: earned ?? due });
  const id = await decidedPayment(app, { coin, amount, fee, now }, query);
  // The payment goes to an address that was the partner's. It decides the asset of no later month.
  await query(
    `begin; set local session_replication_role = replica;
     insert into commission_address (id, partner_id, coin, network, address, requested_at, action_id, effective_at,
                                     took_effect_at)
       values ('${randomUUID()}', '${partnerId}', '${coin}', '${coin}', '${addressExample(coin)}', '2000-01-01',
               '${randomUUID()}', '2000-01-01', '2000-01-01'); commit`,
  );
  await query(
    `update commission_statement s
        set state = 'payable', closed_at = $3, orders = 0, sha256 = $4, due = $5, payment_id = $6, attempts = 1,
            figures = (select jsonb_build_array(jsonb_build_object('coin', s.coin, 'network', s.network,
                'opening', opening::text, 'accrued', '0', 'converted', converted::text, 'corrected', '0', 'paid', '0',
                'closing', (opening + converted)::text))
              from (select coalesce(sum(amount) filter (where month < $2), 0) as opening,
                           coalesce(sum(amount) filter (where month = $2), 0) as converted
                      from commission_entry where partner_id = $1) as sums)
      where partner_id = $1 and month = $2`,
    [partnerId, month, now, 'a'.repeat(64), due, id],
  );
  return { id, partnerId, month };
}

/** A month of a partner. */
export type MadeMonth = Omit<MadeCommission, 'id'>;

/** What a closed month of a partner has. */
export interface MonthTerms extends Pick<CommissionTerms, 'partnerId' | 'coin' | 'monthsAgo'> {
  /** 'payable' unless given. */
  readonly state?: 'closed' | 'rolled' | 'payable';
  /** What the partner was owed before; 0 unless given. */
  readonly opening?: string;
  /** What the partner earned in it. */
  readonly balance: string;
  /** Of a payable month; what is owed at its end unless given. */
  readonly due?: string;
}

/** Closes a month of a partner with a balance. */
export async function closedMonth(
  { app, clock, query }: SettledGateway,
  { partnerId, state = 'payable', opening = '0', balance, due, coin = 'BTC', monthsAgo = 1 }: MonthTerms,
): Promise<MadeMonth> {
  const now = clock.now();
  const month = monthOf(new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - monthsAgo, 1)));
  const asset = { coin, network: coin };
  await query('insert into commission_statement (partner_id, month, coin, network) values ($1, $2, $3, $3)', [
    partnerId,
    month,
    coin,
  ]);
  if (balance !== '0') {
    await query(
      `insert into commission_entry (id, partner_id, month, at, kind, coin, network, amount)
       values ($1, $2, $3, $4, 'conversion', $5, $5, $6)`,
      [randomUUID(), partnerId, month, now, coin, balance],
    );
    const lines = [line('trading', asset, balance), line(`partner:${partnerId}`, asset, minus(balance))];
    await book(app.orm.em.fork(), { kind: 'markup', reference: randomUUID(), orderId: null, at: now, lines });
  }
  const closing = new Big(opening).plus(balance).toFixed();
  const figures = [{ ...asset, opening, accrued: '0', converted: balance, corrected: '0', paid: '0', closing }];
  await query(
    `update commission_statement set state = $3, closed_at = $4, figures = $5, orders = 0, sha256 = $6, due = $7
      where partner_id = $1 and month = $2`,
    [
      partnerId,
      month,
      state,
      now,
      JSON.stringify(figures),
      'a'.repeat(64),
      state === 'payable' ? (due ?? closing) : null,
    ],
  );
  return { partnerId, month };
}

async function decidedPayment(
  app: SettledGateway['app'],
  { coin, amount, fee, now }: { coin: string; amount: string; fee: string; now: Date },
  query: SettledGateway['query'],
): Promise<string> {
  const id = randomUUID();
  await query(
    `insert into payment (id, kind, leg, chain, coin, network, contract, address, amount, fee_charged, state,
                          next_action_at, created_at)
     values ($1, 'commission', 'main', $2, $3, $3, $4, $5, $6, $7, 'ready', $8, $8)`,
    [
      ...[id, networkById(coin)?.chain, coin, app.catalogue.find(coin, coin)?.contract ?? null],
      ...[addressExample(coin), amount, fee, now],
    ],
  );
  return id;
}

/** How a payment is now: what it waits for, else its state. */
export async function commissionState({ query }: SettledGateway, { id }: MadeCommission): Promise<string | undefined> {
  const [row] = await query<{ state: string; problem: string | null }>(
    'select state, problem from payment where id = $1',
    [id],
  );
  return row?.problem ?? row?.state;
}
