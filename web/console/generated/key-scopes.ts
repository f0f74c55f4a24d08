// Generated from src/accounts/partners/key-scope.ts by npm run generate. Do not edit.
import type { KeyScope } from './graphql.ts';

/** The permissions of a key, as a form offers them. */
export const scopeChoices: readonly (readonly [KeyScope, string])[] = [
  [
    "ORDERS_CREATE",
    "Create orders"
  ],
  [
    "ORDERS_READ",
    "Read orders"
  ],
  [
    "RATES_READ",
    "Get quotes with the partner's own pricing"
  ],
  [
    "ORDERS_MANAGE",
    "Change orders: cancel, set the refund address, answer questions, write metadata"
  ],
  [
    "WEBHOOKS_MANAGE",
    "Manage webhook endpoints"
  ],
  [
    "SANDBOX",
    "Force events and outcomes, in a sandbox only"
  ],
  [
    "REPORTS_READ",
    "Read commission, statements and completed orders"
  ]
];
