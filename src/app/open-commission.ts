import type { MikroORM } from '@mikro-orm/postgresql';
import { CommissionClosing } from '../settlement/commission/commission-closing.ts';
import { CommissionConversions } from '../settlement/commission/commission-conversions.ts';
import { CommissionPayments } from '../settlement/commission/commission-payments.ts';
import { CommissionTurns } from '../settlement/commission/commission-turns.ts';
import { recordPartnerEvent } from '../webhooks/partner-events.ts';
import type { GatewayShared } from './services.ts';

/** Builds what a worker does for the commission of partners. */
export function openCommission(shared: GatewayShared, orm: MikroORM): CommissionTurns {
  const { config, clock, log, catalogue, prices, commissionEntries: entries, commissionAddresses } = shared;
  return new CommissionTurns({
    clock,
    takeEffect: () => orm.em.fork().transactional((em) => commissionAddresses.takeEffect(em, clock.now())),
    conversions: new CommissionConversions({ orm, clock, log, entries, prices }),
    closing: new CommissionClosing({
      orm,
      clock,
      log,
      entries,
      catalogue,
      prices,
      minimumUsd: config.COMMISSION_MIN_USD,
      isReconciled: config.RECONCILE_EVERY_SEC > 0,
      onClosed: (em, partnerId, data, at) =>
        recordPartnerEvent(em, { partnerId, type: 'commission.statement', data, at }),
    }),
    payments: new CommissionPayments({ orm, clock, log, catalogue }),
  });
}
