import { shownAddress } from '../../../accounts/members/own-keys.ts';
import { keyScopes } from '../../../accounts/partners/key-scope.ts';
import { maxLiveKeys } from '../../../accounts/partners/partner-service.ts';
import { memberOf } from '../api/call.ts';
import { moment, wholeNumber } from '../api/query-values.ts';
import type { CabinetParts } from './cabinet-parts.ts';
import type { CabinetHandlers } from './contract.ts';
import { entryView, keyView, monthView, text } from './views.ts';

const usualLimit = 50;

/** Keys and reports. */
export function accountHandlers(parts: CabinetParts) {
  const { keys, statements, glance, cursors, audit, orm, turns } = parts;
  const own = (request: Parameters<typeof memberOf>[0]) => memberOf(request).partner.id;
  return {
    getHome: async (request) => {
      const { partner, memberId } = memberOf(request);
      const view = await glance.of(partner.id, memberId);
      const figures = ({ created, completed, refunded, expired, volumeUsd }: typeof view.today) => {
        return { created, completed, refunded, expired, volume_usd: volumeUsd };
      };
      return {
        body: {
          today: figures(view.today),
          days_30: figures(view.days30),
          by_day: view.byDay.map(({ day, created, completed, volumeUsd }) => {
            return { day, created, completed, volume_usd: volumeUsd };
          }),
          open_orders: view.openOrders,
          most_open_orders: partner.maxOpenOrders ?? parts.maxOpenOrders,
          orders_on_hold: view.ordersOnHold,
          requests: { rate_limited_24h: view.requests.limited, refused_24h: view.requests.refused },
          live_keys: view.liveKeys,
          webhooks: {
            endpoints: view.webhooks.endpoints,
            disabled: view.webhooks.disabled,
            failing: view.webhooks.failing,
            delivered_24h: view.webhooks.delivered,
            failed_24h: view.webhooks.failed,
          },
          needs_action: view.needsAction.map(({ reason, count }) => ({ code: reason, count })),
        },
      };
    },
    getLimits: async (request) => {
      const { partner, memberId } = memberOf(request);
      const { limits, areFixedCapsCut, isQuoteHoldCut } = await parts.limits.of(partner.id, memberId);
      return {
        body: {
          limits: limits.map(({ name, most, used, isOwn }) => ({ name, most, used, is_own: isOwn })),
          are_fixed_caps_cut: areFixedCapsCut,
          is_quote_hold_cut: isQuoteHoldCut,
        },
      };
    },
    listKeys: async (request) => {
      const now = keys.now();
      const data = (await keys.list(own(request))).map((key) => keyView(key, now));
      return {
        body: {
          data,
          has_more: false,
          your_address: shownAddress(request.call.client.address),
          most_live_keys: maxLiveKeys,
          scopes: [...keyScopes],
        },
      };
    },
    issueKey: async (request) => {
      const { label, scopes, networks = [], expires_at } = request.body;
      const options = {
        label,
        scopes,
        allowedCidrs: networks,
        expiresAt: moment('expires_at', expires_at ?? undefined),
      };
      const [key, issued] = await parts.act(request, 'issueKey', async (em) => {
        const result = await keys.issue(em, own(request), options);
        return { result, target: `key:${result[1].keyId}`, after: { label, scopes, networks } };
      });
      return { body: { key: keyView(key, keys.now()), secret: issued.key } };
    },
    rollKey: async (request) => {
      const { key_id: keyId } = request.path;
      const hours = request.body.old_key_hours;
      const [key, issued] = await parts.act(request, 'rollKey', async (em) => {
        const result = await keys.roll(em, own(request), keyId, hours);
        return { result, target: `key:${keyId}`, after: { successor: result[1].keyId, old_key_hours: hours } };
      });
      return { body: { key: keyView(key, keys.now()), secret: issued.key } };
    },
    revokeKey: async (request) => {
      const { key_id: keyId } = request.path;
      // A repetition changes nothing, and so it fills no audit log.
      const known = await keys.find(orm.em.fork(), own(request), keyId);
      if (known.revokedAt !== null) return { body: keyView(known, keys.now()) };
      const key = await parts.act(request, 'revokeKey', async (em) => {
        return { result: await keys.revoke(em, own(request), keyId), target: `key:${keyId}` };
      });
      return { body: keyView(key, keys.now()) };
    },
    setKeyNetworks: async (request) => {
      const { key_id: keyId } = request.path;
      const { networks, confirm_lock_out: mayLockOut = false } = request.body;
      const { key } = await parts.act(request, 'setKeyNetworks', async (em) => {
        const result = await keys.setNetworks(em, own(request), keyId, { networks, mayLockOut });
        return { result, target: `key:${keyId}`, before: { networks: result.before }, after: { networks } };
      });
      return { body: keyView(key, keys.now()) };
    },
    listStatements: async (request) => ({
      body: { data: (await statements.months(own(request), keys.now())).map(monthView), has_more: false },
    }),
    getStatement: async (request) => {
      const partnerId = own(request);
      const { month } = request.path;
      const { cursor } = request.query;
      const limit = wholeNumber(request.query.limit, usualLimit);
      const bound = `statement entries ${partnerId} ${month}`;
      const after = cursor === undefined ? null : cursors.read(bound, cursor);
      const sums = await statements.month(partnerId, month);
      const found = await statements.entries(partnerId, month, { limit: limit + 1, after });
      const data = found.slice(0, limit);
      const last = found.length > limit ? data.at(-1) : undefined;
      const next = last ? cursors.write(bound, last.orderId) : null;
      return { body: { month: monthView(sums), data: data.map(entryView), ...moreAfter(next) } };
    },
    getStatementCsv: async (request) => {
      const { month } = request.path;
      return {
        parts: turns.download(memberOf(request), statements.csv(own(request), month)),
        type: 'text/csv; charset=utf-8',
        headers: { 'Content-Disposition': `attachment; filename="statement-${month}.csv"` },
      };
    },
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
