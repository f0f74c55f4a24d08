import type { EntityManager } from '@mikro-orm/postgresql';
import { book, type LedgerAsset, line, minus } from '../ledger/ledger.ts';
import { Big } from '../money.ts';
import { changeBy, coinsOf, type JournalOrder } from './journal-order.ts';

/** A trade at an exchange that is over: nothing more is traded for it. */
export interface ClosedTrade {
  /** Id of the order that it is for. */
  readonly clientId: string;
  readonly venue: string;
  readonly sellCoin: string;
  readonly sellAmount: Big;
  readonly buyCoin: string;
  /** Null when it was rejected. */
  readonly bought: string | null;
}

/**
 * Books, once, what a trade that is over left in the account or cost it beyond its own booking, which says so much of
 * one coin for so much of another, and nothing for a trade that was rejected: the cash of both legs, fees in other
 * coins, what was too little to be sold, and the loss when what was bought was given back. Joins the transaction in
 * which the trade ends.
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
    .map((coin) => ({ coin, left: changeBy(orders, coin).minus(bookedByTrade(trade, coin)) }))
    .filter(({ left }) => !left.eq('0'))
    .flatMap(({ coin, left }) => {
      const asset = assetOf(coin, terms, trade.venue);
      return [line('venue', asset, left), line('trading', asset, minus(left))];
    });
  if (lines.length === 0) return;
  await book(em, { kind: 'venue_cash', reference: trade.clientId, orderId: terms?.orderId ?? null, at, lines });
}

/** What the booking of the trade itself says of a coin, be it written or still to come. */
function bookedByTrade({ sellCoin, sellAmount, buyCoin, bought }: ClosedTrade, coin: string): Big {
  if (bought === null) return new Big('0');
  return new Big(coin === buyCoin ? bought : '0').minus(coin === sellCoin ? sellAmount : '0');
}

interface Terms {
  readonly orderId: string;
  readonly from: LedgerAsset;
  readonly to: LedgerAsset;
}

/** The order's side of a trade; null when nobody here has it. */
async function termsOf(em: EntityManager, clientId: string): Promise<Terms | null> {
  const [row] = await em.execute<Record<string, string>[]>(
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

/** A coin at a venue is on no network. One that the order names stands with the order's; others, with the venue's name. */
function assetOf(coin: string, terms: Terms | null, venue: string): LedgerAsset {
  if (terms?.from.coin === coin) return terms.from;
  if (terms?.to.coin === coin) return terms.to;
  return { coin, network: venue };
}
