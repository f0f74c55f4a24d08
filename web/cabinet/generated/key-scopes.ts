// Generated from src/accounts/partners/key-scope.ts by npm run generate. Do not edit.
/** What each scope lets a program do. */
export const scopes: Readonly<Record<string, string>> = {
  "orders:create": "Create orders and binding quotes",
  "orders:read": "Read orders and their events",
  "rates:read": "Read rates with your pricing",
  "orders:manage": "Cancel orders, set refund addresses, decide questions",
  "webhooks:manage": "Manage webhook endpoints",
  "sandbox": "Play deposits and outcomes in a sandbox",
  "reports:read": "Read reports"
};

/** What a new key can do unless more is chosen. */
export const usualScopes: readonly string[] = ["orders:create","orders:read","rates:read"];
