import { AppError } from '../../base/errors.ts';
import { changedOrders, freshOrders } from '../fresh-orders.ts';

/** A condition on `o`, an exchange_order, with its bound values. */
interface SqlCondition {
  readonly sql: string;
  readonly bound: readonly unknown[];
}

const fewestCharacters = 4;
const mostCharacters = 200;
/**
 * Most hits of each place, so that a prefix that half of all addresses share costs no more than
 * another text.
 */
const mostHits = 1_000;

/** Sorts after every text with the prefix, byte by byte. No stored text contains it. */
const end = '\u{10ffff}';

const startsRight = (column: string): string => `lower(${column}) ~>=~ ? and lower(${column}) ~<~ ?`;

/**
 * The searched columns, each with an index on its lower case in byte order; fresh orders are read
 * by their status. Each place binds two values: the prefix, and its end.
 */
const places = [
  ...[changedOrders, freshOrders].flatMap(({ condition }) => [
    `select o.id from exchange_order o where ${condition} and ${startsRight('o.recipient_address')}`,
    `select o.id from exchange_order o
      where ${condition} and o.refund_address is not null and ${startsRight('o.refund_address')}`,
  ]),
  `select n.id from deposit_address a join exchange_order n on n.deposit_address_id = a.id
    where a.leased_at is not null and lower(a.address) ~>=~ ? and lower(a.address) ~<~ ?`,
  'select order_id from deposit where lower(txid) ~>=~ ? and lower(txid) ~<~ ?',
  `select p.order_id from payment_attempt t join payment p on p.id = t.payment_id
    where t.txid is not null and lower(t.txid) ~>=~ ? and lower(t.txid) ~<~ ?`,
  'select order_id from payment where lower(address) ~>=~ ? and lower(address) ~<~ ?',
  `select order_id from order_terms
    where external_id is not null and lower(external_id) ~>=~ ? and lower(external_id) ~<~ ?`,
].map((select) => `(${select} limit ${mostHits})`);

/** All of a tag. Addresses with tags are few, and the unique index has each with its tags. */
const tagPlace = `(select n.id from deposit_account s join deposit_address a on a.address = s.shared_address and a.tag = ?
    join exchange_order n on n.deposit_address_id = a.id where a.leased_at is not null limit ${mostHits})`;

/** Newest first, because the ids of one day begin alike. */
const idPlace = `(select id from exchange_order where id between ?::uuid and ?::uuid order by id desc limit ${mostHits})`;

/**
 * A short id has capitals and digits, and six of them after the dash. The range from its lowest to
 * its highest completion is thus a range of the unique index in every collation. Some collations
 * ignore the dash and place other ids in that range; `starts_with` removes them.
 */
const shortIdPlace = `(select id from exchange_order
    where short_id between rpad(?, ?, '0') and rpad(?, ?, 'Z') and starts_with(short_id, ?) limit ${mostHits})`;

/** The same for a short id without a prefix. The newest order's prefix is used. */
const bareShortIdPlace = `(select n.id
    from (select prefix || '-' || ? as start, length(prefix) + 7 as size
            from (select split_part(short_id, '-', 1) as prefix from exchange_order
                   order by id desc limit 1) as newest) as typed
    join exchange_order n on n.short_id between rpad(start, size, '0') and rpad(start, size, 'Z')
         and starts_with(n.short_id, start) limit ${mostHits})`;

/**
 * Finds orders by text that staff copied: ids, external ids, transactions and addresses, or their
 * prefix, and whole deposit tags.
 *
 * @throws AppError invalid_value for fewer than 4 characters or more than 200.
 */
export function searchCondition(search: string): SqlCondition {
  const text = search.trim();
  if (text.length < fewestCharacters || text.length > mostCharacters) {
    throw new AppError('invalid_value', `a search has from ${fewestCharacters} to ${mostCharacters} characters`);
  }
  // No id, transaction or address contains any other character.
  if (!/^[\x21-\x7e]+$/.test(text)) return { sql: 'false', bound: [] };
  const lower = text.toLowerCase();
  const selects = [...places];
  const bound: unknown[] = places.flatMap(() => [lower, `${lower}${end}`]);
  const range = uuidRange(lower);
  if (range) {
    selects.push(idPlace);
    bound.push(...range);
  }
  if (/^[1-9]\d{3,9}$/.test(text)) {
    selects.push(tagPlace);
    bound.push(text);
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

/**
 * The lowest and highest UUID with this prefix, with or without dashes. Null when no UUID has it.
 */
function uuidRange(text: string): [string, string] | null {
  const isDashed = text.includes('-') && dashed.startsWith(text.replaceAll(/[^-]/g, 'x'));
  const digits = isDashed ? text.replaceAll('-', '') : text;
  return /^[0-9a-f]{4,32}$/.test(digits) ? [digits.padEnd(32, '0'), digits.padEnd(32, 'f')] : null;
}
