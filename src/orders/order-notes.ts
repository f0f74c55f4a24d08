import type { EntityManager } from '@mikro-orm/postgresql';
import { v7 as uuidv7 } from 'uuid';
import type { Clock } from '../base/clock.ts';
import { AppError } from '../base/errors.ts';
import { Order } from './order.entity.ts';
import { OrderNote } from './order-note.entity.ts';

const maxText = 4000;

/**
 * Adds a note to an order, in the caller's transaction.
 *
 * @throws AppError order_not_found; invalid_value unless the text has 1 to 4000 characters.
 */
export async function addNote(
  em: EntityManager,
  clock: Clock,
  { orderId, staffId, text }: Pick<OrderNote, 'orderId' | 'staffId' | 'text'>,
): Promise<OrderNote> {
  const trimmed = text.trim();
  if (trimmed === '' || trimmed.length > maxText) {
    throw new AppError('invalid_value', `a note has 1 to ${maxText} characters`);
  }
  if ((await em.count(Order, { id: orderId })) === 0) throw new AppError('order_not_found', 'there is no such order');
  const note = em.create(OrderNote, { id: uuidv7(), orderId, staffId, at: clock.now(), text: trimmed });
  await em.flush();
  return note;
}
