import { AppError } from '../../base/errors.ts';
import type { operations } from '../../generated/cabinet.ts';

export const memberRoles = ['owner', 'developer', 'finance', 'viewer'] as const;
export type MemberRole = (typeof memberRoles)[number];

/** Every right of members, each with the roles that have it. */
export const rights = {
  'orders:read': ['owner', 'developer', 'finance', 'viewer'],
  'orders:answer': ['owner', 'developer', 'finance'],
  'keys:read': ['owner', 'developer'],
  'keys:write': ['owner', 'developer'],
  'webhooks:read': ['owner', 'developer'],
  'webhooks:write': ['owner', 'developer'],
  'team:read': ['owner', 'developer', 'finance', 'viewer'],
  'team:write': ['owner'],
  'statements:read': ['owner', 'finance'],
  'audit:read': ['owner'],
} as const satisfies Record<string, readonly MemberRole[]>;

export type Right = keyof typeof rights;

export function hasRight(role: MemberRole, right: Right): boolean {
  return (rights[right] as readonly MemberRole[]).includes(role);
}

/** @throws AppError insufficient_role when the role may not use an operation. */
export function requireRight(role: MemberRole, needs: OperationRow['needs']): void {
  if (needs === 'nothing' || needs === 'member' || hasRight(role, needs)) return;
  throw new AppError('insufficient_role', `the role ${role} may not do this; ask an owner`);
}

/** The refusal of a request without a session that holds. */
export function signedOut(): AppError {
  return new AppError('unauthorized', 'you are signed out; sign in with your passkey');
}

export function rightsOf(role: MemberRole): Right[] {
  return (Object.keys(rights) as Right[]).filter((right) => hasRight(role, right));
}

export type CabinetOperation = keyof operations;

/** What an operation needs before its request is read. */
export interface OperationRow {
  /**
   * `nothing`: no session. `member`: any session. Else the right that the member's role must have.
   */
  readonly needs: 'nothing' | 'member' | Right;
  /** Whether the passkey must be asked again, for this very operation. */
  readonly isConfirmed?: true;
}

/** One row for each operation of cabinet-openapi.yaml. The compiler refuses a missing one. */
export const operationRows: Readonly<Record<CabinetOperation, OperationRow>> = {
  getSession: { needs: 'member' },
  beginSignIn: { needs: 'nothing' },
  signIn: { needs: 'nothing' },
  signOut: { needs: 'nothing' },
  openInvitation: { needs: 'nothing' },
  acceptInvitation: { needs: 'nothing' },
  listPasskeys: { needs: 'member' },
  addPasskey: { needs: 'member', isConfirmed: true },
  beginPasskey: { needs: 'member' },
  removePasskey: { needs: 'member', isConfirmed: true },
  beginConfirmation: { needs: 'member' },
  confirm: { needs: 'member' },
  listSessions: { needs: 'member' },
  endSession: { needs: 'member' },
  getTeam: { needs: 'team:read' },
  invite: { needs: 'team:write', isConfirmed: true },
  withdrawInvitation: { needs: 'team:write' },
  changeMember: { needs: 'team:write', isConfirmed: true },
  removeMember: { needs: 'team:write', isConfirmed: true },
  recoverMember: { needs: 'team:write', isConfirmed: true },
  getHome: { needs: 'orders:read' },
  getLimits: { needs: 'orders:read' },
  listKeys: { needs: 'keys:read' },
  issueKey: { needs: 'keys:write', isConfirmed: true },
  rollKey: { needs: 'keys:write', isConfirmed: true },
  // Ending a key must be quick when it was stolen.
  revokeKey: { needs: 'keys:write' },
  setKeyNetworks: { needs: 'keys:write', isConfirmed: true },
  listOrders: { needs: 'orders:read' },
  getOrder: { needs: 'orders:read' },
  // The addresses of an order are fixed, and each answer is an offer of the gateway.
  answerOrder: { needs: 'orders:answer' },
  listWebhooks: { needs: 'webhooks:read' },
  createWebhook: { needs: 'webhooks:write', isConfirmed: true },
  changeWebhook: { needs: 'webhooks:write', isConfirmed: true },
  deleteWebhook: { needs: 'webhooks:write', isConfirmed: true },
  rotateWebhookSecret: { needs: 'webhooks:write', isConfirmed: true },
  testWebhook: { needs: 'webhooks:write' },
  listDeliveries: { needs: 'webhooks:read' },
  replayEvents: { needs: 'webhooks:write' },
  listStatements: { needs: 'statements:read' },
  getStatement: { needs: 'statements:read' },
  getStatementCsv: { needs: 'statements:read' },
  listAudit: { needs: 'audit:read' },
};
