import type { EntityManager } from '@mikro-orm/postgresql';
import { validate as isUuid } from 'uuid';
import { sql } from '../../base/db/sql.ts';
import { AppError } from '../../base/errors.ts';
import { Partner, type PartnerStatus } from './partner.entity.ts';

interface PartnerSearch {
  /** Text of the name, or the beginning of the id. Empty for all. */
  readonly search: string;
  /** Null for both. */
  readonly status: PartnerStatus | null;
  /** Whether the page is before the cursor. Its rows then come in the opposite order. */
  readonly backwards: boolean;
  /** Id of the partner next to the page. Null for the first page. */
  readonly cursor: string | null;
  readonly limit: number;
}

const longestSearch = 200;

/**
 * A page of partners by name, from the index on names. A text is compared as the index is walked:
 * partners are thousands at most.
 *
 * @throws AppError invalid_value
 */
export async function searchPartners(em: EntityManager, asked: PartnerSearch): Promise<Partner[]> {
  const { search, status, backwards, cursor, limit } = asked;
  if (cursor !== null && !isUuid(cursor)) {
    throw new AppError('invalid_value', `'${cursor.slice(0, 40)}' is no cursor of this list`);
  }
  if (search.length > longestSearch) {
    throw new AppError('invalid_value', `search has at most ${longestSearch} characters`);
  }
  const [sign, direction] = backwards ? ['<', 'desc'] : ['>', 'asc'];
  const ids = await sql<{ id: string }>(
    em,
    `select p.id from partner p
      where (?::text is null or p.status = ?)
        and (?::text = '' or position(lower(?) in lower(p.name)) > 0 or starts_with(p.id::text, lower(?)))
        and (?::uuid is null or (lower(p.name), p.id) ${sign} (select lower(c.name), c.id from partner c where c.id = ?))
      order by lower(p.name) ${direction}, p.id ${direction} limit ?`,
    [status, status, search, search, search, cursor, cursor, limit],
  );
  const order = ids.map(({ id }) => id);
  const partners = new Map((await em.find(Partner, { id: { $in: order } })).map((partner) => [partner.id, partner]));
  return order.map((id) => partners.get(id)).filter((partner) => partner !== undefined);
}
