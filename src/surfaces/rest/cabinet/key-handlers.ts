import type { EntityManager } from '@mikro-orm/postgresql';
import { shownAddress } from '../../../accounts/members/own-keys.ts';
import { keyScopes } from '../../../accounts/partners/key-scope.ts';
import { type IssuedKey, maxLiveKeys } from '../../../accounts/partners/partner-service.ts';
import { memberOf } from '../api/call.ts';
import { moment } from '../api/query-values.ts';
import type { AnsweredOnce, CabinetParts } from './cabinet-parts.ts';
import type { CabinetHandlers, Schemas } from './contract.ts';
import { keyView } from './views.ts';

/** The keys of the partner. */
export function keyHandlers(parts: CabinetParts) {
  const { keys, orm } = parts;
  const own = (request: Parameters<typeof memberOf>[0]) => memberOf(request).partner.id;
  return {
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
      const work = async (em: EntityManager) => {
        const result = await keys.issue(em, own(request), options);
        return { result, target: `key:${result[1].keyId}`, after: { label, scopes, networks } };
      };
      return withSecret(await parts.actOnce(request, 'issueKey', work, ([key]) => keyView(key, keys.now())));
    },
    rollKey: async (request) => {
      const { key_id: keyId } = request.path;
      const hours = request.body.old_key_hours;
      const work = async (em: EntityManager) => {
        const result = await keys.roll(em, own(request), keyId, hours);
        return { result, target: `key:${keyId}`, after: { successor: result[1].keyId, old_key_hours: hours } };
      };
      return withSecret(await parts.actOnce(request, 'rollKey', work, ([key]) => keyView(key, keys.now())));
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
  } satisfies Partial<CabinetHandlers>;
}

/** The answer with a new key. The secret of an earlier answer is stored nowhere. */
function withSecret({ body, made, headers }: AnsweredOnce<readonly [unknown, IssuedKey], Schemas['Key']>) {
  return { body: { key: body, secret: made?.[1].key ?? null }, headers };
}
