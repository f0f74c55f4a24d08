import type { EntityManager } from '@mikro-orm/postgresql';
import { sql } from '../../base/db/sql.ts';
import { Big } from '../../base/money.ts';
import { book, type LedgerAsset, line, minus } from '../../ledger/ledger.ts';
import { venueAccount } from '../rows/liquidity-venue.ts';
import { coinsOf, type JournalOrder, netChange } from './journal-order.ts';

/** A closed trade at an exchange: no further orders belong to it. */
interface ClosedTrade {
  readonly clientId: string;
  readonly venue: string;
  readonly sellCoin: string;
  readonly sellAmount: Big;
  readonly buyCoin: string;
  /** Null when it was rejected. */
  readonly bought: string | null;
}

/**
 * Books once what the trade's own entry omits: leftover cash, fees in other coins, dust, and the
 * loss of returning a bought part. A rejected trade has no separate entry. Joins the transaction
 * in which the trade closes.
 */
export async function bookVenueCash(
  em: EntityManager,
  trade: ClosedTrade,
  orders: readonly JournalOrder[],
  at: Date,
): Promise<void> {
  const terms = await termsOf(em, trade.clientId);
  const coins = new Set([...coinsOf(orders), trade.sellCoin, trade.buyCoin]);
  const lines = [...coins]
    .map((coin) => ({ coin, left: netChange(orders, coin).minus(bookedByTrade(trade, coin)) }))
    .filter(({ left }) => !left.eq('0'))
    .flatMap(({ coin, left }) => {
      const asset = assetOf(coin, terms, trade.venue);
      return [line(venueAccount(trade.venue), asset, left), line('trading', asset, minus(left))];
    });
  if (lines.length === 0) return;
  await book(em, { kind: 'venue_cash', reference: trade.clientId, orderId: terms?.orderId ?? null, at, lines });
}

/** The amount of a coin in the trade's own journal entry, which may still be to come. */
function bookedByTrade({ sellCoin, sellAmount, buyCoin, bought }: ClosedTrade, coin: string): Big {
  if (bought === null) return new Big('0');
  return new Big(coin === buyCoin ? bought : '0').minus(coin === sellCoin ? sellAmount : '0');
}

interface Terms {
  readonly orderId: string;
  readonly from: LedgerAsset;
  readonly to: LedgerAsset;
}

/** The order's side of a trade. Null when this database has no such trade. */
async function termsOf(em: EntityManager, clientId: string): Promise<Terms | null> {
  const [row] = await sql<Record<string, string>>(
    em,
    'select coin_from, network_from, coin_to, network_to from trade where order_id = ?',
    [clientId],
  );
  if (!row) return null;
  const { coin_from = '', network_from = '', coin_to = '', network_to = '' } = row;
  return {
    orderId: clientId,
    from: { coin: coin_from, network: network_from },
    to: { coin: coin_to, network: network_to },
  };
}

/**
 * The ledger asset of a coin at a venue. A coin of the order is booked with the order's network;
 * any other coin is booked with the venue's name.
 */
function assetOf(coin: string, terms: Terms | null, venue: string): LedgerAsset {
  if (terms?.from.coin === coin) return terms.from;
  if (terms?.to.coin === coin) return terms.to;
  return { coin, network: venue };
}
