/** What a scope lets the program with the key do. */
interface ScopeRow {
  /** In the words of staff: the staff API and the console. */
  readonly staff: string;
  /** In the words of the partner: the cabinet. */
  readonly partner: string;
  /** Whether a key has it that is issued without naming any. Later scopes have to be asked for. */
  readonly isUsual: boolean;
}

/** The scopes of a key. Forms, descriptions and lists come from this table. */
export const scopeRows = {
  'orders:create': { staff: 'Create orders.', partner: 'Create orders and binding quotes', isUsual: true },
  'orders:read': { staff: 'Read orders.', partner: 'Read orders and their events', isUsual: true },
  // Quotes need no key; this makes them reflect the partner's pricing.
  'rates:read': {
    staff: "Get quotes with the partner's own pricing.",
    partner: 'Read rates with your pricing',
    isUsual: true,
  },
  'orders:manage': {
    staff: 'Change orders: cancel, set the refund address, answer questions, write metadata.',
    partner: 'Cancel orders, set refund addresses, decide questions',
    isUsual: false,
  },
  'webhooks:manage': {
    staff: 'Manage webhook endpoints.',
    partner: 'Manage webhook endpoints',
    isUsual: false,
  },
  sandbox: {
    staff: 'Force events and outcomes, in a sandbox only.',
    partner: 'Play deposits and outcomes in a sandbox',
    isUsual: false,
  },
  'reports:read': {
    staff: 'Read commission, statements and completed orders.',
    partner: 'Read reports',
    isUsual: false,
  },
} as const satisfies Readonly<Record<string, ScopeRow>>;

export type KeyScope = keyof typeof scopeRows;

export const keyScopes = Object.keys(scopeRows) as readonly KeyScope[];

/** The scopes of a key that is issued without naming any. */
export const usualScopes: readonly KeyScope[] = keyScopes.filter((scope) => scopeRows[scope].isUsual);
