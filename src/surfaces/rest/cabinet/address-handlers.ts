import type { CommissionAddress } from '../../../settlement/rows/commission-address.entity.ts';
import { memberOf } from '../api/call.ts';
import type { CabinetParts } from './cabinet-parts.ts';
import type { CabinetHandlers } from './contract.ts';
import { addressView } from './views.ts';

/** Where the commission of the partner is paid to. */
export function addressHandlers(parts: CabinetParts) {
  const { keys, orm, commissionAddresses, assets } = parts;
  return {
    getCommissionAddresses: async (request) => {
      const em = orm.em.fork();
      const { id } = memberOf(request).partner;
      const inEffect = await commissionAddresses.allInEffect(em, id);
      const waiting = await commissionAddresses.waiting(em, id);
      const history = await commissionAddresses.history(em, id);
      return {
        body: {
          in_effect: inEffect.map(addressView),
          waiting: waiting && addressView(waiting),
          history: history.map(addressView),
          assets: commissionAddresses.assets().map((currency) => {
            return { coin: currency.coin, network: currency.network, tag: assets.of(currency).tag?.name ?? null };
          }),
        },
      };
    },
    setCommissionAddress: async (request) => {
      const { partner, memberId, name } = memberOf(request);
      const { coin, network, address, tag = null, old_is_lost: oldIsLost = false } = request.body;
      const asked = { partnerId: partner.id, memberId, coin, network, address, tag, oldIsLost };
      const made = await parts.act(request, 'setCommissionAddress', async (em) => {
        const result = await commissionAddresses.request(em, { ...asked, now: keys.now() });
        return { result, ...audited(result) };
      });
      return { body: addressView({ ...made, requestedBy: name }) };
    },
    cancelCommissionAddress: async (request) => {
      const { partner } = memberOf(request);
      await parts.act(request, 'cancelCommissionAddress', async (em) => {
        const result = await commissionAddresses.cancel(em, partner.id, request.path.address_id, keys.now());
        return { result, ...audited(result) };
      });
      return { body: undefined };
    },
  } satisfies Partial<CabinetHandlers>;
}

/** What the audit log keeps of an address. */
function audited({ partnerId, coin, network, address, tag, effectiveAt, oldIsLost }: CommissionAddress) {
  const after = { coin, network, address, tag, effective_at: effectiveAt, old_is_lost: oldIsLost };
  return { target: `partner:${partnerId}`, after };
}
