import { AppError } from '../../base/errors.ts';
import { type OrderStatus, orderStatuses } from '../order-status.ts';
import type { OrderFilter } from './order-filter.ts';

/** The filters that the address of the console's order list carries. */
export const addressFilters = ['q', 'status', 'partner', 'coin', 'held', 'attention', 'from', 'to'] as const;

const dayMs = 86_400_000;
const mostCharacters = 200;

/**
 * Returns the filter that an address of the order list stands for, such as
 * `status=FAILED,REFUNDED&coin=BTC`. The page leaves out what it does not know. Here that is
 * refused, because a file or a saved view would hold more orders than it says.
 *
 * @throws AppError unknown_field, unknown_value or invalid_value
 */
export function filterOfAddress(query: Readonly<Record<string, unknown>>): OrderFilter {
  const texts: Partial<Record<(typeof addressFilters)[number], string>> = {};
  for (const [name, value] of Object.entries(query)) {
    const known = addressFilters.find((filter) => filter === name);
    if (!known) {
      throw new AppError(
        'unknown_field',
        `there is no filter '${name.slice(0, 40)}'; use ${addressFilters.join(', ')}`,
      );
    }
    if (typeof value !== 'string' || value.length > mostCharacters) {
      throw new AppError('invalid_value', `${name} is one text of at most ${mostCharacters} characters`);
    }
    if (value !== '') texts[known] = value;
  }
  const { q, status, partner, coin, held, attention, from, to } = texts;
  return {
    ...(q === undefined ? {} : { search: q }),
    ...(status === undefined ? {} : { statuses: status.split(',').map(statusOf) }),
    ...(partner === undefined ? {} : { partnerId: partner }),
    ...(coin === undefined ? {} : { coin: coin.toUpperCase() }),
    ...(held === undefined ? {} : { heldOnly: isSet('held', held) }),
    ...(attention === undefined ? {} : { needsAttention: isSet('attention', attention) }),
    ...(from === undefined ? {} : { createdFrom: dayOf('from', from) }),
    ...(to === undefined ? {} : { createdTo: new Date(dayOf('to', to).getTime() + dayMs) }),
  };
}

function statusOf(name: string): OrderStatus {
  const status = orderStatuses.find((known) => known.toUpperCase() === name);
  if (status) return status;
  const known = orderStatuses.map((each) => each.toUpperCase()).join(', ');
  throw new AppError('unknown_value', `status is one or more of ${known}, joined by commas`);
}

function isSet(name: string, text: string): true {
  if (text === '1') return true;
  throw new AppError('invalid_value', `${name} is 1, or is left out`);
}

function dayOf(name: string, text: string): Date {
  const day = new Date(`${text}T00:00:00.000Z`);
  if (/^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text))
    return day;
  throw new AppError('invalid_value', `${name} is a day in UTC such as 2026-11-23`);
}
