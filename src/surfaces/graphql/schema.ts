import { type GraphQLSchema, lexicographicSortSchema, printSchema } from 'graphql';
import 'reflect-metadata';
import { buildSchema, type ContainerType, type PubSub } from 'type-graphql';
import { ActionResolver } from './actions.ts';
import { AttentionAssigneeResolver, AttentionResolver } from './attention.ts';
import { AuditResolver } from './audit.ts';
import {
  ActionPartnerResolver,
  CommissionEntryResolver,
  CommissionResolver,
  PartnerCommissionResolver,
} from './commission.ts';
import { CurrencyResolver } from './currencies.ts';
import { ChainHistoryResolver, VenueHistoryResolver, WalletHistoryResolver } from './history.ts';
import { LedgerBalanceResolver } from './ledger.ts';
import { LiveResolver } from './live.ts';
import { MemberResolver } from './members.ts';
import { OrderViewResolver } from './order-views.ts';
import { OrderConnectionResolver, OrderNoteResolver, OrderResolver } from './orders.ts';
import { ApiKeyResolver, PartnerResolver } from './partners.ts';
import { ActionHoldResolver, PayoutResolver } from './payouts.ts';
import { RateResolver } from './rates.ts';
import { checkPermission, documentPermissions } from './server/requires-permission.ts';
import { SessionResolver } from './sessions.ts';
import { DepositResolver, LedgerLineResolver, PaymentResolver } from './settlement.ts';
import { StaffResolver } from './staff.ts';
import { StaffChangeResolver } from './staff-changes.ts';
import { StatsResolver } from './stats.ts';
import { SystemResolver } from './system.ts';
import { TreasuryResolver, TreasuryTransferResolver, VenueMovementResolver } from './treasury.ts';
import { WebhookResolver } from './webhooks.ts';

/** Resolvers with services, made by the composition root. The other resolvers need no services. */
type Resolvers = readonly [
  OrderResolver,
  ActionResolver,
  PayoutResolver,
  PartnerResolver,
  MemberResolver,
  CurrencyResolver,
  RateResolver,
  StatsResolver,
  AttentionResolver,
  SystemResolver,
  SessionResolver,
  StaffResolver,
  WebhookResolver,
  OrderViewResolver,
  TreasuryResolver,
  CommissionResolver,
  PartnerCommissionResolver,
];

/**
 * type-graphql requires a PubSub for subscriptions. Ours do not use it, because they subscribe to
 * their sources directly.
 */
const unused: PubSub = {
  publish: () => {},
  subscribe: () => {
    throw new Error('no subscription has topics');
  },
};

/** Builds the staff schema with resolvers, or without any for printing. */
export async function buildStaffSchema(resolvers: Resolvers | readonly [] = []): Promise<GraphQLSchema> {
  const instances = new Map<unknown, object>(resolvers.map((resolver) => [resolver.constructor, resolver]));
  const container: ContainerType = {
    get: (resolver: new () => object) => {
      const known = instances.get(resolver) ?? new resolver();
      instances.set(resolver, known);
      return known;
    },
  };
  const schema = await buildSchema({
    resolvers: [
      OrderResolver,
      OrderConnectionResolver,
      OrderNoteResolver,
      DepositResolver,
      PaymentResolver,
      LedgerLineResolver,
      LedgerBalanceResolver,
      ActionResolver,
      ActionHoldResolver,
      PayoutResolver,
      PartnerResolver,
      MemberResolver,
      ApiKeyResolver,
      CurrencyResolver,
      RateResolver,
      StatsResolver,
      AttentionResolver,
      AttentionAssigneeResolver,
      AuditResolver,
      SystemResolver,
      WalletHistoryResolver,
      VenueHistoryResolver,
      ChainHistoryResolver,
      SessionResolver,
      StaffResolver,
      StaffChangeResolver,
      LiveResolver,
      WebhookResolver,
      OrderViewResolver,
      TreasuryResolver,
      TreasuryTransferResolver,
      VenueMovementResolver,
      CommissionResolver,
      PartnerCommissionResolver,
      CommissionEntryResolver,
      ActionPartnerResolver,
    ],
    container,
    authChecker: checkPermission,
    pubSub: unused,
    // Services check their input themselves, with errors in our own words.
    validate: false,
  });
  return documentPermissions(schema);
}

/** Prints the schema, for `schema/schema.graphql`. */
export async function printStaffSchema(): Promise<string> {
  const schema = lexicographicSortSchema(await buildStaffSchema());
  return `# Generated from src/surfaces/graphql by npm run generate. Do not edit.\n\n${printSchema(schema)}\n`;
}
