import { AppError } from '../errors.ts';

/** A condition on `o`, an exchange_order, with the values it binds. */
export interface Condition {
  readonly sql: string;
  readonly bound: readonly unknown[];
}

const fewestCharacters = 4;
const mostCharacters = 200;
/** Hits that are taken of each place, so that the beginning of every second address costs no more than another text. */
const mostHits = 1_000;

/** Greater than every text that begins alike, byte by byte; nothing that we store contains it. */
const end = '\u{10ffff}';

/** Where texts are, each with an index on its lower case in byte order. Two values: the prefix, and its end. */
const places = [
  `select id from exchange_order
    where lower(recipient_address) ~>=~ ? and lower(recipient_address) ~<~ ?`,
  `select id from exchange_order
    where refund_address is not null and lower(refund_address) ~>=~ ? and lower(refund_address) ~<~ ?`,
  `select n.id from deposit_address a join exchange_order n on n.deposit_address_id = a.id
    where a.leased_at is not null and lower(a.address) ~>=~ ? and lower(a.address) ~<~ ?`,
  'select order_id from deposit where lower(txid) ~>=~ ? and lower(txid) ~<~ ?',
  `select p.order_id from payment_attempt t join payment p on p.id = t.payment_id
    where t.txid is not null and lower(t.txid) ~>=~ ? and lower(t.txid) ~<~ ?`,
  'select order_id from payment where lower(address) ~>=~ ? and lower(address) ~<~ ?',
].map((select) => `(${select} limit ${mostHits})`);

/** Newest first: the ids of a day begin alike. */
const idPlace = `(select id from exchange_order where id between ?::uuid and ?::uuid order by id desc limit ${mostHits})`;

/**
 * A short id is of capitals and digits and has six of them behind the dash, so that from the lowest to the highest of
 * them is a range of the unique index in every collation. `starts_with` leaves out what a collation that overlooks the
 * dash puts in between.
 */
const shortIdPlace = `(select id from exchange_order
    where short_id between rpad(?, ?, '0') and rpad(?, ?, 'Z') and starts_with(short_id, ?) limit ${mostHits})`;

/** The same without a prefix, for which the newest order's stands. */
const bareShortIdPlace = `(select n.id
    from (select prefix || '-' || ? as start, length(prefix) + 7 as size
            from (select split_part(short_id, '-', 1) as prefix from exchange_order
                   order by created_at desc, id desc limit 1) as newest) as typed
    join exchange_order n on n.short_id between rpad(start, size, '0') and rpad(start, size, 'Z')
         and starts_with(n.short_id, start) limit ${mostHits})`;

/**
 * Finds orders by what staff copy from somewhere: ids, transactions and addresses, whole or their beginning.
 *
 * @throws AppError invalid_value for fewer than 4 characters or more than 200.
 */
export function searchCondition(search: string): Condition {
  const text = search.trim();
  if (text.length < fewestCharacters || text.length > mostCharacters) {
    throw new AppError('invalid_value', `a search has from ${fewestCharacters} to ${mostCharacters} characters`);
  }
  // Nothing else is in any id, transaction or address.
  if (!/^[\x21-\x7e]+$/.test(text)) return { sql: 'false', bound: [] };
  const lower = text.toLowerCase();
  const selects = [...places];
  const bound: unknown[] = places.flatMap(() => [lower, `${lower}${end}`]);
  const range = uuidRange(lower);
  if (range) {
    selects.push(idPlace);
    bound.push(...range);
  }
  const upper = text.toUpperCase();
  const [, prefix] = /^([A-Z][A-Z0-9]{0,7})-[A-Z0-9]{0,6}$/.exec(upper) ?? [];
  if (prefix !== undefined) {
    const length = prefix.length + 7;
    selects.push(shortIdPlace);
    bound.push(upper, length, upper, length, upper);
  } else if (/^[A-Z0-9]{4,6}$/.test(upper)) {
    selects.push(bareShortIdPlace);
    bound.push(upper);
  }
  return { sql: `o.id in (${selects.join('\n  union ')})`, bound };
}

const dashed = 'xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx';

/** The lowest and highest id with this beginning, written with dashes or without; null when no id begins so. */
function uuidRange(text: string): [string, string] | null {
  const isDashed = text.includes('-') && dashed.startsWith(text.replaceAll(/[^-]/g, 'x'));
  const digits = isDashed ? text.replaceAll('-', '') : text;
  return /^[0-9a-f]{4,32}$/.test(digits) ? [digits.padEnd(32, '0'), digits.padEnd(32, 'f')] : null;
}
