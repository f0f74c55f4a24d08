import { type GraphQLSchema, lexicographicSortSchema, printSchema } from 'graphql';
import 'reflect-metadata';
import { buildSchema, type ContainerType, type PubSub } from 'type-graphql';
import { ActionResolver } from './actions.ts';
import { AttentionResolver } from './attention.ts';
import { AuditResolver } from './audit.ts';
import { CurrencyResolver } from './currencies.ts';
import { LiveResolver } from './live.ts';
import { OrderConnectionResolver, OrderNoteResolver, OrderResolver } from './orders.ts';
import { ApiKeyResolver, PartnerResolver } from './partners.ts';
import { ActionHoldResolver, PayoutResolver } from './payouts.ts';
import { checkPermission, documentPermissions } from './permit.ts';
import { RateResolver } from './rates.ts';
import { DepositResolver, PaymentResolver } from './settlement.ts';
import { StaffResolver } from './staff.ts';
import { StaffChangeResolver } from './staff-changes.ts';
import { StatsResolver } from './stats.ts';
import { SystemResolver } from './system.ts';

/** Resolvers that need services, made by the composition root. The others need none. */
export type Resolvers = readonly [
  OrderResolver,
  ActionResolver,
  PayoutResolver,
  PartnerResolver,
  CurrencyResolver,
  RateResolver,
  StatsResolver,
  AttentionResolver,
  SystemResolver,
  StaffResolver,
];

/** Demanded for subscriptions, and not used by ours: they name their source themselves. */
const unused: PubSub = {
  publish: () => {},
  subscribe: () => {
    throw new Error('no subscription has topics');
  },
};

/** Builds the staff schema on resolvers; on none, for printing. */
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
      ActionResolver,
      ActionHoldResolver,
      PayoutResolver,
      PartnerResolver,
      ApiKeyResolver,
      CurrencyResolver,
      RateResolver,
      StatsResolver,
      AttentionResolver,
      AuditResolver,
      SystemResolver,
      StaffResolver,
      StaffChangeResolver,
      LiveResolver,
    ],
    container,
    authChecker: checkPermission,
    pubSub: unused,
    // Services check what they are given, and say in our own words what is wrong.
    validate: false,
  });
  return documentPermissions(schema);
}

/** The schema as text, for `schema/schema.graphql`. */
export async function printStaffSchema(): Promise<string> {
  const schema = lexicographicSortSchema(await buildStaffSchema());
  return `# Generated from src/graphql by npm run generate. Do not edit.\n\n${printSchema(schema)}\n`;
}
