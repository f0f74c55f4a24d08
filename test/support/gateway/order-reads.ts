import { createSecretKey, randomBytes } from 'node:crypto';
import type { MikroORM } from '@mikro-orm/postgresql';
import type { ActionOffers } from '../../../src/orders/action-offers.ts';
import { OrderPages } from '../../../src/orders/order-pages.ts';
import { ListCursors } from '../../../src/orders/read/list-cursor.ts';
import { OrderReads } from '../../../src/orders/read/order-reads.ts';

/** Reads orders as the gateway does, but with its own cursors, without offers and links. */
export function orderReads(orm: MikroORM): OrderReads {
  return new OrderReads({
    orm,
    cursors: new ListCursors([{ version: 1, key: createSecretKey(randomBytes(32)) }]),
    offers: {} as ActionOffers,
    pages: new OrderPages([], null),
    paymentUri: () => null,
    explorerUrl: () => null,
    depositGraceSec: 600,
  });
}
