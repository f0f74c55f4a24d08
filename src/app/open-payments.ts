import type { MikroORM } from '@mikro-orm/postgresql';
import type { JobQueue } from '../base/jobs/job-queue.ts';
import { networkById } from '../chains/networks/networks.ts';
import type { Signer } from '../chains/port/signer.ts';
import { payoutRules } from '../config/payout-rules.ts';
import { CommissionMonths } from '../settlement/pay/commission-months.ts';
import { EarlierAttempts } from '../settlement/pay/earlier-attempts.ts';
import { FeeShares } from '../settlement/pay/fee-shares.ts';
import { PaymentFollower } from '../settlement/pay/payment-follower.ts';
import { PaymentTransactions } from '../settlement/pay/payment-transactions.ts';
import { PaymentWorker } from '../settlement/pay/payment-worker.ts';
import { PaymentWriter } from '../settlement/pay/payment-writer.ts';
import { PayoutLimits } from '../settlement/pay/payout-limits.ts';
import { recordPartnerEvent } from '../webhooks/partner-events.ts';
import type { Foundation } from './foundation.ts';
import type { GatewayShared } from './services.ts';
import { StartError } from './start-error.ts';

interface PaymentParts extends Pick<GatewayShared, 'catalogue' | 'prices' | 'networks' | 'commissionEntries'> {
  readonly orm: MikroORM;
  /** Null in a process without a signer. */
  readonly signer: Signer | null;
  readonly jobs: JobQueue;
}

/** The services that prepare, sign, send, follow and bound payments. */
interface Payments {
  readonly payments: PaymentWorker;
  readonly limits: PayoutLimits;
}

/** A worker without keys has no chains, so this is never called. */
const noSigner = (): Promise<never> => Promise.reject(new StartError('this process has no signer'));
const unavailable: Signer = { sign: noSigner, revoke: noSigner, hotWallet: noSigner, channels: noSigner };

export function openPayments(
  { config, clock, log, outside }: Foundation,
  { orm, catalogue, prices, networks, commissionEntries, signer, jobs }: PaymentParts,
): Payments {
  const { onCrashPoint = () => {} } = outside;
  const writer = new PaymentWriter(orm, clock);
  const limits = new PayoutLimits({
    orm,
    clock,
    prices,
    rules: payoutRules(config),
    signedPerDay: ({ coin, network }) => {
      const live = networks.live.get(networkById(network)?.chain ?? '');
      const limit = live?.limits.get(coin);
      return limit ? { all: limit.perDay, commission: limit.commissionPerDay } : null;
    },
  });
  const transactions = new PaymentTransactions({
    orm,
    clock,
    log,
    catalogue,
    signer: signer ?? unavailable,
    writer,
    onCrashPoint,
    limits,
    maxFeeFactor: config.MAX_FEE_FACTOR,
    refundFeeFactor: config.REFUND_FEE_FACTOR,
    prices,
  });
  const feeShares = new FeeShares({
    orm,
    clock,
    networks: networks.live,
    parts: {
      refunds: config.FEE_SHARE_REFUNDS,
      sweeps: config.FEE_SHARE_SWEEPS,
      commission: config.PAYOUT_SHARE_COMMISSION,
      partner: config.FEE_SHARE_PARTNER,
    },
  });
  const earlier = new EarlierAttempts({ orm, clock, log, writer });
  const follower = new PaymentFollower({
    orm,
    clock,
    log,
    catalogue,
    jobs,
    onCrashPoint,
    transactions,
    earlier,
    writer,
    commission: new CommissionMonths({ entries: commissionEntries, recordEvent: recordPartnerEvent }),
  });
  const payments = new PaymentWorker({
    orm,
    clock,
    log,
    onCrashPoint,
    transactions,
    earlier,
    writer,
    follower,
    limits,
    feeShares,
    giveUpSec: config.PAYMENT_GIVE_UP_SEC,
  });
  return { payments, limits };
}
