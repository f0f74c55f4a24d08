import { AppError } from '../../base/errors.ts';
import type { operations } from '../../generated/cabinet.ts';
import { partnerInactive } from '../partners/authenticator.ts';
import type { PartnerStatus } from '../partners/partner.entity.ts';

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
  // Money goes to the address.
  'commission:write': ['owner'],
  'audit:read': ['owner'],
} as const satisfies Record<string, readonly MemberRole[]>;

type Right = keyof typeof rights;

export function hasRight(role: MemberRole, right: Right): boolean {
  return (rights[right] as readonly MemberRole[]).includes(role);
}

/** @throws AppError insufficient_role when the role may not use an operation. */
export function requireRight(role: MemberRole, needs: OperationRow['needs']): void {
  if (needs === 'nothing' || needs === 'member' || hasRight(role, needs)) return;
  throw new AppError('insufficient_role', `the role ${role} may not do this; ask an owner`);
}

/**
 * An inactive partner reads, and ends what it has. It gets nothing new and asks for no work.
 *
 * @throws AppError partner_inactive
 */
export function requireActive(status: PartnerStatus, { endsAccess, needs }: OperationRow, isReading: boolean): void {
  if (status === 'active' || isReading || endsAccess || needs === 'nothing') return;
  throw partnerInactive();
}

/** The refusal of a request without a session that holds. */
export function signedOut(): AppError {
  return new AppError('unauthorized', 'you are signed out; sign in with your passkey');
}

export function rightsOf(role: MemberRole): Right[] {
  return (Object.keys(rights) as Right[]).filter((right) => hasRight(role, right));
}

/** An operation of the cabinet's own contract. */
export type CabinetOperation = keyof operations;

/** What an operation needs before its request is read. */
export interface OperationRow {
  /**
   * `nothing`: no session. `member`: any session. Else the right that the member's role must have.
   */
  readonly needs: 'nothing' | 'member' | Right;
  /** Whether the passkey must be asked again, for this very operation. */
  readonly isConfirmed?: true;
  /**
   * Whether it ends access, or is a step to that. It waits for no other request of the partner, and
   * an inactive partner may do it.
   */
  readonly endsAccess?: true;
  /** Whether it waits for something other than a connection of the cabinet. It holds none then. */
  readonly waitsElsewhere?: true;
  /** Its name in the audit log, where that is not the operation's. */
  readonly auditedAs?: string;
}

/** The operations of openapi.yaml that members may use. The cabinet has no other of them. */
const sharedRows = {
  listOrders: { needs: 'orders:read' },
  getOrder: { needs: 'orders:read' },
  getOrderDetails: { needs: 'orders:read' },
  listOrderEvents: { needs: 'orders:read' },
  // The addresses of an order are fixed, and each answer is an offer of the gateway.
  actOnOrder: { needs: 'orders:answer', auditedAs: 'answerOrder' },
  listWebhookEndpoints: { needs: 'webhooks:read', endsAccess: true },
  createWebhookEndpoint: { needs: 'webhooks:write', isConfirmed: true, auditedAs: 'createWebhook' },
  updateWebhookEndpoint: { needs: 'webhooks:write', isConfirmed: true, auditedAs: 'changeWebhook' },
  deleteWebhookEndpoint: {
    needs: 'webhooks:write',
    isConfirmed: true,
    endsAccess: true,
    auditedAs: 'deleteWebhook',
  },
  rotateWebhookSecret: { needs: 'webhooks:write', isConfirmed: true },
  testWebhookEndpoint: { needs: 'webhooks:write', waitsElsewhere: true, auditedAs: 'testWebhook' },
  listWebhookDeliveries: { needs: 'webhooks:read' },
  replayWebhookEvents: { needs: 'webhooks:write', waitsElsewhere: true, auditedAs: 'replayWebhook' },
  getCommissionBalance: { needs: 'statements:read' },
  listCommissionEntries: { needs: 'statements:read' },
  listStatements: { needs: 'statements:read' },
  getStatement: { needs: 'statements:read' },
  listOrderReport: { needs: 'statements:read' },
} as const satisfies Readonly<Record<string, OperationRow>>;

/** An operation of the partner contract that members may use. */
export type SharedOperation = keyof typeof sharedRows;

/** An operation of a member, of either contract. */
export type MemberOperation = CabinetOperation | SharedOperation;

export const sharedOperations = Object.keys(sharedRows) as readonly SharedOperation[];

/**
 * One row for each operation of cabinet-openapi.yaml and for each shared one. The compiler refuses
 * a missing row.
 */
export const operationRows: Readonly<Record<MemberOperation, OperationRow>> = {
  ...sharedRows,
  getSession: { needs: 'member', endsAccess: true },
  beginSignIn: { needs: 'nothing' },
  signIn: { needs: 'nothing' },
  signOut: { needs: 'nothing' },
  openInvitation: { needs: 'nothing' },
  acceptInvitation: { needs: 'nothing' },
  listPasskeys: { needs: 'member', endsAccess: true },
  addPasskey: { needs: 'member', isConfirmed: true },
  beginPasskey: { needs: 'member' },
  removePasskey: { needs: 'member', isConfirmed: true, endsAccess: true },
  beginConfirmation: { needs: 'member', endsAccess: true },
  confirm: { needs: 'member', endsAccess: true },
  listSessions: { needs: 'member', endsAccess: true },
  endSession: { needs: 'member', endsAccess: true },
  getTeam: { needs: 'team:read', endsAccess: true },
  invite: { needs: 'team:write', isConfirmed: true },
  withdrawInvitation: { needs: 'team:write', endsAccess: true },
  changeMember: { needs: 'team:write', isConfirmed: true },
  removeMember: { needs: 'team:write', isConfirmed: true, endsAccess: true },
  recoverMember: { needs: 'team:write', isConfirmed: true },
  getHome: { needs: 'orders:read' },
  getLimits: { needs: 'orders:read' },
  listKeys: { needs: 'keys:read', endsAccess: true },
  issueKey: { needs: 'keys:write', isConfirmed: true },
  rollKey: { needs: 'keys:write', isConfirmed: true },
  // Ending a key must be quick when it was stolen.
  revokeKey: { needs: 'keys:write', endsAccess: true },
  setKeyNetworks: { needs: 'keys:write', isConfirmed: true },
  getCommissionAddresses: { needs: 'statements:read', endsAccess: true },
  setCommissionAddress: { needs: 'commission:write', isConfirmed: true },
  // Ending a request must be quick when it was a thief's.
  cancelCommissionAddress: { needs: 'commission:write', endsAccess: true },
  listAudit: { needs: 'audit:read' },
};
