import type { MikroORM } from '@mikro-orm/postgresql';
import { Members } from '../accounts/members/members.ts';
import { OwnKeys } from '../accounts/members/own-keys.ts';
import { Passkeys } from '../accounts/members/passkeys.ts';
import { MemberSessions } from '../accounts/members/sessions.ts';
import { PartnerService } from '../accounts/partners/partner-service.ts';
import type { KeyHasher } from '../accounts/partners/secret-key.ts';
import { AuditLog } from '../accounts/staff/audit/audit-log.ts';
import { StaffAuthenticator } from '../accounts/staff/staff-authenticator.ts';
import { StaffService } from '../accounts/staff/staff-service.ts';
import { StaffSessions } from '../accounts/staff/staff-sessions.ts';
import type { Clock } from '../base/clock.ts';
import type { PartnerQueues } from '../base/limits/partner-queues.ts';
import type { Log } from '../base/log.ts';
import type { LiveNetworks } from '../chains/families/live-networks.ts';
import { cabinetUrl } from '../config/cabinet-url.ts';
import { gatewayTerms } from '../config/fixed-rates.ts';
import { isNetwork } from '../config/parsers.ts';
import { publicUrl } from '../config/public-url.ts';
import type { Config } from '../config/settings.ts';
import type { Assets } from '../market/currencies/assets.ts';
import type { CurrencyCatalogue } from '../market/currencies/currency-catalogue.ts';
import { CurrencyService } from '../market/currencies/currency-service.ts';
import type { WalletLinks } from '../market/currencies/wallet-links.ts';
import type { BindingQuotes } from '../market/rates/binding-quotes.ts';
import type { PriceBook } from '../market/rates/price-book.ts';
import type { PriceOverrideService } from '../market/rates/price-override-service.ts';
import type { RateService } from '../market/rates/rate-service.ts';
import { OrderStats } from '../operations/order-stats.ts';
import type { ActionOffers } from '../orders/action-offers.ts';
import { AddressChecks } from '../orders/address-checks.ts';
import { LockedChanges } from '../orders/locked-changes.ts';
import type { OpenOrders } from '../orders/open-orders.ts';
import type { OnBatch } from '../orders/order-batches.ts';
import { OrderPages, pagePurpose } from '../orders/order-pages.ts';
import { OrderService } from '../orders/order-service.ts';
import type { OrderView } from '../orders/order-statements.ts';
import { cursorPurpose, ListCursors } from '../orders/read/list-cursor.ts';
import { OrderReads } from '../orders/read/order-reads.ts';
import { PartnerEvents } from '../orders/read/partner-events.ts';
import { RepeatableRequests } from '../orders/repeatable-requests.ts';
import type { CommissionAddresses } from '../settlement/commission/commission-addresses.ts';
import { CommissionEntries } from '../settlement/commission/commission-entries.ts';
import { CommissionReads } from '../settlement/commission/commission-reads.ts';
import { OrderReport } from '../settlement/commission/order-report.ts';
import { PayoutHolds } from '../settlement/pay/payout-holds.ts';
import { DeliveryLog } from '../webhooks/delivery-log.ts';
import type { EgressRules } from '../webhooks/egress-rules.ts';
import { EndpointService } from '../webhooks/endpoint-service.ts';
import { recordPartnerEvent } from '../webhooks/partner-events.ts';
import { SecretBox, secretPurpose } from '../webhooks/secret-box.ts';

/** What services need of a process, of a command too. It is made once, and belongs to no pool. */
export interface Shared {
  readonly config: Config;
  readonly clock: Clock;
  readonly log: Log;
  readonly networks: LiveNetworks;
  readonly hasher: KeyHasher;
  /** The keys of these come from the peppers, so that all processes share them. */
  readonly pages: OrderPages;
  readonly cursors: ListCursors;
  readonly secrets: SecretBox;
  /** Where webhooks may go. */
  readonly egressRules: EgressRules;
  /** What partners earn. */
  readonly commissionEntries: CommissionEntries;
}

/** What services need of a gateway besides. It is made once: each has a state in memory. */
export interface GatewayShared extends Shared {
  readonly catalogue: CurrencyCatalogue;
  /** Where partners are paid their commission. */
  readonly commissionAddresses: CommissionAddresses;
  readonly prices: PriceBook;
  readonly overrides: PriceOverrideService;
  readonly assets: Assets;
  readonly rates: RateService;
  readonly quotes: BindingQuotes;
  readonly offers: ActionOffers;
  readonly wallets: WalletLinks;
  /** The turns of partners at the connections of requests. */
  readonly queues: PartnerQueues;
  /** Reads on the connections of requests, for every pool. */
  readonly openOrders: OpenOrders;
  /** Called for each batch of creates and of look-ups. */
  readonly onBatch: OnBatch;
}

type Process = Pick<Shared, 'config' | 'clock' | 'log' | 'networks'>;

export function sharedOf({ config, clock, log, networks }: Process, hasher: KeyHasher): Shared {
  const own = [config.INTERNAL_PUBLIC_URL].flatMap((url) => (url === null ? [] : [new URL(url).hostname]));
  return {
    config,
    clock,
    log,
    networks,
    hasher,
    pages: new OrderPages(hasher.derivedKeys(pagePurpose), publicUrl(config)),
    cursors: new ListCursors(hasher.derivedKeys(cursorPurpose)),
    secrets: new SecretBox(hasher.derivedKeys(secretPurpose)),
    egressRules: {
      ports: config.WEBHOOK_PORTS,
      denyCidrs: config.WEBHOOK_DENY.filter(isNetwork),
      denyHosts: [...config.WEBHOOK_DENY.filter((entry) => !isNetwork(entry)), ...own],
      allowLoopback: config.WEBHOOK_ALLOW_LOOPBACK === 'on',
    },
    commissionEntries: new CommissionEntries(config.COMMISSION_ASSET),
  };
}

/** The services that need no key. A command has them before the database has a schema. */
export type KeylessServices = ReturnType<typeof keylessServices>;

export function keylessServices(orm: MikroORM, { clock, networks }: Pick<Shared, 'clock' | 'networks'>) {
  return { orm, audit: new AuditLog(orm, clock), currencies: new CurrencyService(orm, clock, networks) };
}

/** The services that need no market, over the connections of one pool. */
export type Services = ReturnType<typeof services>;

/**
 * Builds the services of a pool for commands, and for the parts of a worker that trade nothing. No
 * constructor here does any work. What is slow, or keeps something in memory, is in `Shared`.
 */
export function services(orm: MikroORM, shared: Shared) {
  const { config, clock, log, networks, hasher, cursors, secrets, egressRules: rules } = shared;
  const origin = cabinetUrl(config);
  const partners = new PartnerService(
    orm,
    hasher,
    clock,
    networks.areOfValue,
    gatewayTerms(config),
    (em, partnerId, data, at) => recordPartnerEvent(em, { partnerId, type: 'key.markup_changed', data, at }),
  );
  const staffAuthenticator = new StaffAuthenticator(orm, hasher, clock);
  return {
    ...keylessServices(orm, shared),
    partners,
    ownKeys: new OwnKeys(clock, partners),
    /** Null without a cabinet. */
    people: origin === null ? null : cabinetPeople(orm, clock, origin),
    staff: new StaffService(orm, hasher, clock, config.OIDC_ISSUER !== null),
    staffAuthenticator,
    staffSessions: new StaffSessions(orm, staffAuthenticator, clock),
    endpoints: new EndpointService({ orm, clock, secrets, rules }),
    deliveries: new DeliveryLog(orm, clock, cursors),
    requests: new RepeatableRequests(orm, clock),
    stats: new OrderStats(orm),
    holds: new PayoutHolds(orm, clock, log),
  };
}

/** All services over the connections of one pool. */
export type GatewayServices = ReturnType<typeof gatewayServices>;

/**
 * Builds the services of a pool for the surfaces of a gateway. Creating orders is not among them:
 * the batches and addresses of `OrderCreation` belong to the pool of requests (`openRequests`).
 */
export function gatewayServices(orm: MikroORM, shared: GatewayShared) {
  const {
    config,
    clock,
    catalogue,
    commissionEntries: entries,
    cursors,
    offers,
    openOrders,
    pages,
    wallets,
    onBatch,
  } = shared;
  const common = services(orm, shared);
  const changes = new LockedChanges(common.requests, clock);
  const explorerUrl = (coin: string, network: string, txid: string) =>
    wallets.explorerUrl(coin, network, 'transaction', txid);
  return {
    ...common,
    orderReads: new OrderReads({
      orm,
      offers,
      pages,
      paymentUri: (order: OrderView) => wallets.paymentUri(order),
      explorerUrl,
      cursors,
      depositGraceSec: config.DEPOSIT_GRACE_SEC,
      onBatch,
    }),
    orderService: new OrderService({ clock, changes, catalogue, openOrders, pages, offers }),
    addressChecks: new AddressChecks(orm, catalogue),
    events: new PartnerEvents(orm, cursors),
    commissionReads: new CommissionReads({ orm, clock, cursors, entries, explorerUrl }),
    orderReport: new OrderReport(orm, cursors),
  };
}

/** The people of partners, and how they sign in. */
export interface CabinetPeople {
  /** Where browsers reach the cabinet. */
  readonly origin: string;
  readonly members: Members;
  readonly passkeys: Passkeys;
  readonly sessions: MemberSessions;
}

export function cabinetPeople(orm: MikroORM, clock: Clock, origin: string): CabinetPeople {
  const passkeys = new Passkeys({ orm, clock, origin });
  const sessions = new MemberSessions(orm, clock);
  return { origin, passkeys, sessions, members: new Members({ orm, clock, passkeys, sessions, origin }) };
}
