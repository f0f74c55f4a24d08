import { memberOf } from '../api/call.ts';
import { wholeNumber } from '../api/query-values.ts';
import type { CabinetParts } from './cabinet-parts.ts';
import type { CabinetHandlers } from './contract.ts';
import { text } from './views.ts';

const usualLimit = 50;

/** The changes that members made. */
export function reportHandlers({ cursors, audit }: CabinetParts) {
  const own = (request: Parameters<typeof memberOf>[0]) => memberOf(request).partner.id;
  return {
    listAudit: async (request) => {
      const partnerId = own(request);
      const { cursor } = request.query;
      const limit = wholeNumber(request.query.limit, usualLimit);
      const bound = `audit ${partnerId}`;
      const before = cursor === undefined ? null : cursors.read(bound, cursor);
      const found = await audit.ofPartner(partnerId, { limit: limit + 1, before });
      const rows = found.slice(0, limit);
      const last = found.length > limit ? rows.at(-1) : undefined;
      return {
        body: {
          data: rows.map(({ id, at, actor, operation, target, ip, before: was, after }) => {
            return { id, at: text(at), actor, operation, target, network: ip, before: was, after };
          }),
          ...moreAfter(last ? cursors.write(bound, last.id) : null),
        },
      };
    },
  } satisfies Partial<CabinetHandlers>;
}

/** How a page ends. */
function moreAfter(nextCursor: string | null): { has_more: boolean; next_cursor: string | null } {
  return { has_more: nextCursor !== null, next_cursor: nextCursor };
}
